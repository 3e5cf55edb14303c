package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/armature-dev/armature/config"
	"github.com/armature-dev/armature/test/e2e/env"
)

func (d *demo) steps() []step {
	return []step{
		{"control-plane", "etcd, kube-apiserver and the ARM simulator", d.controlPlane},
		{"crds", "the kinds that the generator made of Azure's swagger", d.crds},
		{"apply", "a group, a network, a subnet and a scale set", d.applyAll},
		{"scale", "kubectl scale becomes one PATCH with one field", d.scale},
		{"comanaged", "what others set in Azure stays", d.comanaged},
		{"refused", "what can't be is refused at once", d.refused},
		{"drift", "what is ours is put back; a capacity is left", d.drift},
		{"restart", "SIGKILL in the middle of an operation", d.restart},
		{"adopt", "a resource that exists already", d.adopt},
		{"delete", "children first; the adopted stays", d.remove},
	}
}

func (d *demo) controlPlane(ctx context.Context) (string, error) {
	var err error
	if d.plane, err = env.Start(ctx, env.Options{Dir: filepath.Join(d.dir, "plane"), Log: io.Discard}); err != nil {
		return "", err
	}
	if err := d.startSimulator(ctx); err != nil {
		return "", err
	}
	out, err := d.kubectl(ctx, "version")
	if err != nil {
		return "", err
	}
	for _, ns := range []string{namespace, "armature-system"} {
		if _, err := d.kubectl(ctx, "create", "namespace", ns); err != nil {
			return "", err
		}
	}
	return strings.ReplaceAll(strings.TrimSpace(out), "\n", ", ") + "; ARM at " + d.azure.url, nil
}

func (d *demo) crds(ctx context.Context) (string, error) {
	if _, err := d.kubectl(ctx, "apply", "--server-side", "-f", filepath.Join(d.root, "config/crd")); err != nil {
		return "", err
	}
	files, err := config.CRDs()
	if err != nil {
		return "", err
	}
	if _, err := d.kubectl(ctx, "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"); err != nil {
		return "", err
	}
	out, err := d.kubectl(ctx, "get", "crd", "-o", "name")
	if err != nil {
		return "", err
	}
	if n := strings.Count(out, ".armature.dev"); n != len(files) {
		return "", fmt.Errorf("expected %d kinds, found %d", len(files), n)
	}
	var explained string
	err = d.eventually(ctx, "kubectl explain", func() (bool, string, error) {
		explained, err = d.quiet(ctx, "", "explain", "vmss.spec.sku.capacity")
		return strings.Contains(explained, "sku.capacity"), explained, err
	})
	say("   $ kubectl explain vmss.spec.sku.capacity\n%s", strings.TrimSpace(explained))
	return fmt.Sprintf("%d kinds established", len(files)), err
}

func (d *demo) applyAll(ctx context.Context) (string, error) {
	if err := d.startManager(ctx); err != nil {
		return "", err
	}
	if err := d.webhookReady(ctx); err != nil {
		return "", err
	}
	if err := d.apply(ctx, "base.yaml"); err != nil {
		return "", err
	}
	if err := d.ready(ctx, "rg/my-group", "vnet/net", "virtualnetworksubnet/web", "vmss/web"); err != nil {
		return "", err
	}
	out, err := d.kubectl(ctx, "get", "rg,vnet,virtualnetworksubnet,vmss", "-n", namespace)
	if err != nil {
		return "", err
	}
	say("%s", strings.TrimSpace(out))
	o, err := d.object(ctx, "vmss/web")
	if err != nil {
		return "", err
	}
	if len(list(at(o, "status", "observed", "instanceView", "statuses"))) == 0 {
		return "", errors.New("status.observed.instanceView has no statuses")
	}
	return d.received(ctx, 0)
}

// webhookReady waits until the API server reaches the webhook: its
// certificate is made by the manager at its start.
func (d *demo) webhookReady(ctx context.Context) error {
	const wrong = "apiVersion: network.armature.dev/v1alpha1\nkind: VirtualNetwork\nmetadata: {name: wrong, namespace: demo}\nspec: {location: westeurope, properties: {addressSpace: {addressPrefixes: [10.0.0.0/16]}}}\n"
	return d.eventually(ctx, "the webhook to answer", func() (bool, string, error) {
		out, err := d.quiet(ctx, wrong, "apply", "--dry-run=server", "-f", "-")
		return err != nil && strings.Contains(out, "spec.owner"), out, nil
	})
}

// received shows what ARM got since a position.
func (d *demo) received(ctx context.Context, since int) (string, error) {
	calls, err := d.azure.writes(ctx, "", since)
	if err != nil {
		return "", err
	}
	for _, c := range calls {
		say("   ARM received: %s", c)
	}
	return fmt.Sprintf("ARM received %d writes", len(calls)), nil
}

func (d *demo) scale(ctx context.Context) (string, error) {
	since, err := d.azure.position(ctx)
	if err != nil {
		return "", err
	}
	if _, err := d.kubectl(ctx, "scale", "vmss/web", "-n", namespace, "--replicas=5"); err != nil {
		return "", err
	}
	if err := d.ready(ctx, "vmss/web"); err != nil {
		return "", err
	}
	calls, err := d.azure.writes(ctx, vmssID, since)
	if err != nil {
		return "", err
	}
	if len(calls) != 1 || calls[0].Method != http.MethodPatch || string(calls[0].Body) != `{"sku":{"capacity":5}}` {
		return "", fmt.Errorf("expected one PATCH of sku.capacity alone, ARM received %v", calls)
	}
	return fmt.Sprintf("ARM received: %s", calls[0]), nil
}

func (d *demo) patch(ctx context.Context, object, patch string) (string, error) {
	return d.kubectl(ctx, "patch", object, "-n", namespace, "--type=merge", "-p", patch)
}

func (d *demo) comanaged(ctx context.Context) (string, error) {
	since, err := d.azure.position(ctx)
	if err != nil {
		return "", err
	}
	for _, change := range []struct {
		id    string
		patch map[string]any
	}{
		{vmssID, map[string]any{"tags": map[string]any{"policy": "theirs"}}},
		{netID, map[string]any{"tags": map[string]any{"policy": "theirs"}}},
		{netID + "/subnets/theirs", map[string]any{"properties": map[string]any{"addressPrefix": "10.0.7.0/24"}}},
	} {
		if err := d.azure.change(ctx, change.id, change.patch); err != nil {
			return "", err
		}
	}
	for _, change := range [][2]string{
		{"vmss/web", `{"spec":{"tags":{"tag2":"new"}}}`},
		{"vmss/web", `{"spec":{"properties":{"overprovision":false}}}`},
		{"vnet/net", `{"spec":{"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16","10.1.0.0/16"]}}}}`},
	} {
		if _, err := d.patch(ctx, change[0], change[1]); err != nil {
			return "", err
		}
		if err := d.ready(ctx, change[0]); err != nil {
			return "", err
		}
	}
	return d.checkComanaged(ctx, since)
}

func (d *demo) checkComanaged(ctx context.Context, since int) (string, error) {
	calls, err := d.azure.writes(ctx, groupID, since)
	if err != nil {
		return "", err
	}
	puts := 0
	for _, c := range calls {
		say("   ARM received: %s", c)
		if c.Method == http.MethodPut {
			puts++
			if c.Headers["If-Match"] == "" {
				return "", fmt.Errorf("a PUT without If-Match: %s", c)
			}
		}
	}
	if puts != 1 {
		return "", fmt.Errorf("expected one PUT, found %d", puts)
	}
	scaleSet, err := d.azure.get(ctx, vmssID)
	if err != nil {
		return "", err
	}
	network, err := d.azure.get(ctx, netID)
	if err != nil {
		return "", err
	}
	theirs, err := d.azure.get(ctx, netID+"/subnets/theirs")
	if err != nil {
		return "", err
	}
	switch {
	case at(scaleSet, "tags", "policy") != "theirs", at(scaleSet, "tags", "tag2") != "new", at(scaleSet, "tags", "tag1") != "value":
		return "", fmt.Errorf("the scale set's tags are %v", at(scaleSet, "tags"))
	case at(scaleSet, "properties", "overprovision") != false:
		return "", errors.New("overprovision was not changed")
	case at(network, "tags", "policy") != "theirs", at(network, "tags", "team") != "web":
		return "", fmt.Errorf("the network's tags are %v", at(network, "tags"))
	case theirs == nil:
		return "", errors.New("the subnet of others is gone")
	case len(list(at(network, "properties", "addressSpace", "addressPrefixes"))) != 2:
		return "", errors.New("the address space was not changed")
	}
	return "tags and a subnet of others survived a tags request, a PATCH and a PUT with If-Match", nil
}

func (d *demo) refused(ctx context.Context) (string, error) {
	var words []string
	for _, c := range []struct{ object, patch, field string }{
		{"vmss/web", `{"spec":{"location":"northeurope"}}`, "location"},
		{"vmss/web", `{"spec":{"owner":{"name":"another"}}}`, "owner"},
		{"vmss/web", `{"spec":{"properties":{"provisioningState":"Failed"}}}`, "provisioningState"},
	} {
		out, err := d.patch(ctx, c.object, c.patch)
		if err == nil {
			return "", fmt.Errorf("%s was admitted", c.patch)
		}
		say("   %s", strings.TrimSpace(out))
		if !strings.Contains(out, c.field) {
			return "", fmt.Errorf("the refusal does not name %s: %s", c.field, out)
		}
		words = append(words, c.field)
	}
	return "refused at once: " + strings.Join(words, ", "), nil
}

func (d *demo) drift(ctx context.Context) (string, error) {
	if err := d.azure.change(ctx, vmssID, map[string]any{
		"sku":        map[string]any{"capacity": 9},
		"properties": map[string]any{"upgradePolicy": map[string]any{"mode": "Automatic"}},
	}); err != nil {
		return "", err
	}
	if err := d.reconcile(ctx, "vmss/web"); err != nil {
		return "", err
	}
	err := d.eventually(ctx, "upgradePolicy.mode to be put back", func() (bool, string, error) {
		v, err := d.azure.get(ctx, vmssID)
		mode := fmt.Sprint(at(v, "properties", "upgradePolicy", "mode"))
		return mode == "Manual", mode, err
	})
	if err != nil {
		return "", err
	}
	if err := d.ready(ctx, "vmss/web"); err != nil {
		return "", err
	}
	v, err := d.azure.get(ctx, vmssID)
	if err != nil {
		return "", err
	}
	if fmt.Sprint(at(v, "sku", "capacity")) != "9" {
		return "", fmt.Errorf("the capacity that others set is now %v", at(v, "sku", "capacity"))
	}
	_, message, err := d.condition(ctx, "vmss/web", "Drifted")
	if err != nil {
		return "", err
	}
	o, err := d.object(ctx, "vmss/web")
	if err != nil {
		return "", err
	}
	if !strings.Contains(compact(at(o, "status", "drift")), "sku.capacity") {
		return "", fmt.Errorf("status.drift does not name sku.capacity: %s", compact(at(o, "status", "drift")))
	}
	events, err := d.quiet(ctx, "", "get", "events", "-n", namespace, "-o", "jsonpath={range .items[*]}{.reason} {.message}{.note}{\"\\n\"}{end}")
	if err != nil {
		return "", err
	}
	if !strings.Contains(events, "upgradePolicy.mode") {
		return "", fmt.Errorf("no event names upgradePolicy.mode: %s", events)
	}
	return "mode put back, capacity 9 left; " + message, nil
}

func (d *demo) restart(ctx context.Context) (string, error) {
	const id = groupID + "/providers/Microsoft.Network/virtualNetworks/restart"
	if err := d.apply(ctx, "restart.yaml"); err != nil {
		return "", err
	}
	err := d.eventually(ctx, "the PUT to reach ARM", func() (bool, string, error) {
		calls, err := d.azure.writes(ctx, id, 0)
		return len(calls) > 0, "", err
	})
	if err != nil {
		return "", err
	}
	say("   $ kill -9 %d   # the manager, in the middle of the operation", d.manager.cmd.Process.Pid)
	d.manager.kill()
	v, err := d.azure.get(ctx, id)
	if err != nil {
		return "", err
	}
	state := at(v, "properties", "provisioningState")
	if state == "Succeeded" {
		return "", errors.New("the operation had ended before the manager was killed")
	}
	if _, err := d.patch(ctx, "vnet/restart", `{"spec":{"tags":{"temporary":null}}}`); err != nil {
		return "", err
	}
	if err := d.startManager(ctx); err != nil {
		return "", err
	}
	if err := d.ready(ctx, "vnet/restart"); err != nil {
		return "", err
	}
	calls, err := d.azure.writes(ctx, id, 0)
	if err != nil {
		return "", err
	}
	puts := 0
	for _, c := range calls {
		say("   ARM received: %s", c)
		if c.Method == http.MethodPut {
			puts++
		}
	}
	if v, err = d.azure.get(ctx, id); err != nil {
		return "", err
	}
	switch {
	case puts != 1:
		return "", fmt.Errorf("expected one PUT, ARM received %d", puts)
	case at(v, "tags", "temporary") != nil:
		return "", errors.New("a tag that was sent and then removed from the spec is still in ARM: the journal lost it")
	case at(v, "tags", "keep") != "1":
		return "", fmt.Errorf("the tags are %v", at(v, "tags"))
	}
	return fmt.Sprintf("killed while %v, resumed, one PUT in all", state), nil
}

const (
	otherGroup = "/subscriptions/" + subscription + "/resourceGroups/existing"
	legacyID   = otherGroup + "/providers/Microsoft.Network/virtualNetworks/legacy"
)

func legacy(extra string) string {
	return "apiVersion: network.armature.dev/v1alpha1\nkind: VirtualNetwork\nmetadata: {name: legacy, namespace: demo}\nspec:\n  owner: {resourceID: " + otherGroup + "}\n" + extra +
		"  location: westeurope\n  properties: {addressSpace: {addressPrefixes: [192.168.0.0/16]}}\n"
}

func (d *demo) adopt(ctx context.Context) (string, error) {
	for id, body := range map[string]map[string]any{otherGroup: {"location": "westeurope"}} {
		if err := d.azure.change(ctx, id, body); err != nil {
			return "", err
		}
	}
	if err := d.azure.change(ctx, legacyID, map[string]any{"location": "westeurope", "tags": map[string]any{"since": "2019"}, "properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": []string{"192.168.0.0/16"}}}}); err != nil {
		return "", err
	}
	since, err := d.azure.position(ctx)
	if err != nil {
		return "", err
	}
	say("   $ kubectl apply -f legacy.yaml   # without resourceID")
	if err := d.applyText(ctx, legacy("")); err != nil {
		return "", err
	}
	var message string
	err = d.eventually(ctx, "vnet/legacy to stall", func() (bool, string, error) {
		reason, m, err := d.condition(ctx, "vnet/legacy", "Stalled")
		message = m
		return reason == "AlreadyExists", reason + " " + m, err
	})
	if err != nil {
		return "", err
	}
	say("   AlreadyExists: %s\n   $ kubectl apply -f legacy.yaml   # with resourceID", message)
	if err := d.applyText(ctx, legacy("  resourceID: "+legacyID+"\n")); err != nil {
		return "", err
	}
	if err := d.ready(ctx, "vnet/legacy"); err != nil {
		return "", err
	}
	calls, err := d.azure.writes(ctx, legacyID, since)
	if err != nil {
		return "", err
	}
	if len(calls) > 0 {
		return "", fmt.Errorf("adopting wrote: %v", calls)
	}
	return "stalled with AlreadyExists, then adopted without a write", nil
}

func (d *demo) remove(ctx context.Context) (string, error) {
	// The subnet that others made goes first: a group with strangers in it
	// would be kept.
	if _, err := d.kubectl(ctx, "delete", "vmss,vnet,virtualnetworksubnet,rg", "--all", "-n", namespace, "--timeout=90s"); err != nil {
		return "", err
	}
	for _, id := range []string{vmssID, subnetID, netID, groupID} {
		v, err := d.azure.get(ctx, id)
		if err != nil {
			return "", err
		}
		if v != nil {
			return "", fmt.Errorf("%s is still in ARM", id)
		}
	}
	v, err := d.azure.get(ctx, legacyID)
	if err != nil {
		return "", err
	}
	if v == nil {
		return "", errors.New("the adopted network is gone")
	}
	if _, err := d.kubectl(ctx, "delete", "namespace", namespace, "--timeout=60s"); err != nil {
		return "", err
	}
	return "gone from ARM and the cluster; the adopted network is still in ARM", nil
}

package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/armature-dev/armature/test/e2e/env"
)

//go:embed manifests/*.yaml
var manifests embed.FS

const (
	subscription = "00000000-0000-0000-0000-00000000d311"
	groupID      = "/subscriptions/" + subscription + "/resourceGroups/my-group"
	netID        = groupID + "/providers/Microsoft.Network/virtualNetworks/net"
	subnetID     = netID + "/subnets/web"
	vmssID       = groupID + "/providers/Microsoft.Compute/virtualMachineScaleSets/web"
	namespace    = "demo"
	patience     = 60 * time.Second
)

// step is one thing that the demo shows.
type step struct {
	name, about string
	do          func(context.Context) (string, error)
}

// demo holds the running parts.
type demo struct {
	root, dir, binary string

	plane     *env.ControlPlane
	simulator *process
	manager   *process
	azure     *azure
	caFile    string
}

func (d *demo) kubeconfig() string  { return d.plane.Kubeconfig }
func (d *demo) kubectlPath() string { return d.plane.Kubectl }

func (d *demo) stop() {
	d.manager.stop()
	d.simulator.stop()
	if d.plane != nil {
		d.plane.Stop()
	}
	_ = os.RemoveAll(d.dir)
}

// tail shows the end of the manager's log after a failure.
func (d *demo) tail() {
	if d.manager != nil {
		say("\nthe manager's last words:\n%s", lastLines(d.manager.log, 25))
	}
}

func (d *demo) startSimulator(ctx context.Context) error {
	d.caFile = filepath.Join(d.dir, "arm-ca.pem")
	p, line, err := startProcess(ctx, filepath.Join(d.dir, "simulator.log"), nil, "ready url=", d.binary,
		"simulate", "--listen", "127.0.0.1:0", "--operation-duration", "2s", "--subscription", subscription, "--ca-out", d.caFile)
	if err != nil {
		return err
	}
	d.simulator = p
	url, _, _ := strings.Cut(line, " ")
	d.azure, err = newAzure(url, d.caFile)
	return err
}

func (d *demo) startManager(ctx context.Context) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	environ := []string{
		"KUBECONFIG=" + d.kubeconfig(),
		"AZURE_TENANT_ID=11111111-1111-1111-1111-111111111111", "AZURE_CLIENT_ID=22222222-2222-2222-2222-222222222222", "AZURE_CLIENT_SECRET=demo-client-secret",
	}
	if err := d.applyText(ctx, d.webhook(port)); err != nil {
		return err
	}
	d.manager, _, err = startProcess(ctx, filepath.Join(d.dir, "manager.log"), environ, "Starting workers", d.binary,
		"manager", "--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--webhook-port", strconv.Itoa(port),
		"--webhook-config-name", "armature-validating", "--arm-endpoint", d.azure.url, "--arm-audience", d.azure.url,
		"--arm-authority", d.azure.url, "--arm-ca-file", d.caFile, "--single-tenant", "--subscription", subscription)
	return err
}

// webhook is the admission configuration for a manager outside of the cluster.
func (d *demo) webhook(port int) string {
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: armature-validating}
webhooks:
- name: validate.armature.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  timeoutSeconds: 5
  clientConfig: {url: "https://localhost:%d/validate"}
  rules:
  - {apiGroups: ["*"], apiVersions: [v1alpha1], operations: [CREATE, UPDATE], resources: ["*"], scope: Namespaced}
  matchConditions:
  - {name: armature-kinds, expression: "request.resource.group.endsWith('.armature.dev')"}
  - {name: not-being-deleted, expression: "!has(object.metadata.deletionTimestamp)"}
`, port)
}

// kubectl runs kubectl as a person would, and shows the command.
func (d *demo) kubectl(ctx context.Context, args ...string) (string, error) {
	say("   $ kubectl %s", strings.Join(args, " "))
	return d.quiet(ctx, "", args...)
}

func (d *demo) quiet(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, d.kubectlPath(), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+d.kubeconfig())
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

func (d *demo) applyText(ctx context.Context, text string) error {
	_, err := d.quiet(ctx, text, "apply", "-f", "-")
	return err
}

func (d *demo) apply(ctx context.Context, file string) error {
	say("   $ kubectl apply -f test/e2e/demo/manifests/%s", file)
	b, err := manifests.ReadFile("manifests/" + file)
	if err != nil {
		return fmt.Errorf("reading a manifest: %w", err)
	}
	return d.applyText(ctx, string(b))
}

// ready waits until objects are Ready for their present generation.
func (d *demo) ready(ctx context.Context, objects ...string) error {
	for _, o := range objects {
		err := d.eventually(ctx, o+" to be Ready", func() (bool, string, error) {
			st, err := d.object(ctx, o)
			if err != nil {
				return false, "", err
			}
			generation := at(st, "metadata", "generation")
			for _, c := range list(at(st, "status", "conditions")) {
				if at(c, "type") == "Ready" {
					return at(c, "status") == "True" && at(st, "status", "observedGeneration") == generation, fmt.Sprintf("%v: %v", at(c, "reason"), at(c, "message")), nil
				}
			}
			return false, "no condition yet", nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func (d *demo) object(ctx context.Context, name string) (map[string]any, error) {
	out, err := d.quiet(ctx, "", "get", name, "-n", namespace, "-o", "json")
	if err != nil {
		return nil, err
	}
	var m map[string]any
	return m, json.Unmarshal([]byte(out), &m)
}

func (d *demo) condition(ctx context.Context, name, condition string) (reason, message string, err error) {
	o, err := d.object(ctx, name)
	if err != nil {
		return "", "", err
	}
	for _, c := range list(at(o, "status", "conditions")) {
		if at(c, "type") == condition && at(c, "status") == "True" {
			return fmt.Sprint(at(c, "reason")), fmt.Sprint(at(c, "message")), nil
		}
	}
	return "", "", nil
}

func (d *demo) reconcile(ctx context.Context, name string) error {
	_, err := d.quiet(ctx, "", "annotate", name, "-n", namespace, "--overwrite", fmt.Sprintf("armature.dev/reconcile-requested-at=%d", time.Now().UnixNano()))
	return err
}

var errPatience = errors.New("it did not come about in time")

// eventually asks until the answer is yes; the last word goes into the error.
func (d *demo) eventually(ctx context.Context, what string, ask func() (bool, string, error)) error {
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		yes, word, err := ask()
		if yes && err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("waiting for %s: %w (%s)", what, errPatience, word), err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

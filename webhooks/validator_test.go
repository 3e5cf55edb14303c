package webhooks

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/armature-dev/armature/config"
)

const claimed = `"status":{"resourceID":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/net","observed":{"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}}`

func network(name, spec string) string {
	return `{"apiVersion":"network.armature.dev/v1alpha1","kind":"VirtualNetwork","metadata":{"name":"` + name + `"},"spec":` + spec + `,` + claimed + `}`
}

func TestHandle(t *testing.T) {
	t.Parallel()
	catalog, err := config.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	v := &Validator{Catalog: catalog}
	const good = `{"owner":{"name":"g"},"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`
	for name, c := range map[string]struct {
		name, spec, old string
		// says are parts of the refusal; none means admitted.
		says []string
	}{
		"good":                  {spec: good},
		"no owner":              {spec: `{"location":"westeurope"}`, says: []string{"spec.owner", "resourceGroups"}},
		"owner twice":           {spec: `{"owner":{"name":"g","resourceID":"/subscriptions/s"},"location":"westeurope"}`, says: []string{"spec.owner", "found both"}},
		"adopting lifts it":     {spec: `{"resourceID":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/net"}`},
		"observing lifts it":    {spec: `{"owner":{"name":"g"},"policy":{"update":"Observe"}}`},
		"ID of another type":    {spec: `{"resourceID":"/subscriptions/s/resourceGroups/g"}`, says: []string{"spec.resourceID", "Microsoft.Network/virtualNetworks"}},
		"unknown field":         {spec: `{"owner":{"name":"g"},"location":"x","properties":{"adressSpace":{}}}`, says: []string{"spec.properties.adressSpace", "did you mean addressSpace?"}},
		"read-only field":       {spec: `{"owner":{"name":"g"},"location":"x","properties":{"provisioningState":"Failed"}}`, says: []string{"spec.properties.provisioningState", "ReadOnly"}},
		"create-only change":    {spec: strings.Replace(good, "westeurope", "northeurope", 1), old: good, says: []string{"spec.location", "CreateOnly", "delete and create"}},
		"another spelling":      {spec: strings.Replace(good, "westeurope", "West Europe", 1), old: good},
		"owner changed":         {spec: strings.Replace(good, `"g"`, `"h"`, 1), old: good, says: []string{"spec.owner", "Immutable"}},
		"a name with a bracket": {name: "a<b", spec: good, says: []string{"spec.azureName", "allowed in a name"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := "net"
			if c.name != "" {
				object = c.name
			}
			req := request(network(object, c.spec))
			if c.old != "" {
				req.Operation = admissionv1.Update
				req.OldObject = runtime.RawExtension{Raw: []byte(network(object, c.old))}
			}
			resp := v.Handle(t.Context(), req)
			if resp.Allowed != (c.says == nil) {
				t.Fatalf("allowed is %v: %s", resp.Allowed, resp.Result.Message)
			}
			for _, s := range c.says {
				if !strings.Contains(resp.Result.Message, s) {
					t.Errorf("expected %q in %q", s, resp.Result.Message)
				}
			}
		})
	}
}

func request(raw string) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(raw)},
		Kind: metav1.GroupVersionKind{Group: "network.armature.dev", Version: "v1alpha1", Kind: "VirtualNetwork"},
	}}
}

func TestDryRunAnswersWithThePlan(t *testing.T) {
	t.Parallel()
	catalog, err := config.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	long, err := json.Marshal(strings.Repeat("x", 400))
	if err != nil {
		t.Fatal(err)
	}
	req := request(network("net", `{"owner":{"name":"g"},"location":"westeurope","tags":{"a":`+string(long)+`},"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]}}}`))
	dry := true
	req.DryRun = &dry
	resp := (&Validator{Catalog: catalog}).Handle(t.Context(), req)
	if len(resp.Warnings) != 3 || resp.Warnings[0] != "plan: Put, 2 changes" {
		t.Fatalf("warnings are %q", resp.Warnings)
	}
	for _, w := range resp.Warnings {
		if n := utf8.RuneCountInString(w); n > warningRunes || strings.ContainsAny(w, "\n\t") {
			t.Errorf("a warning of %d runes: %s", n, w)
		}
	}
}

func FuzzHandle(f *testing.F) {
	catalog, err := config.Catalog()
	if err != nil {
		f.Fatal(err)
	}
	v := &Validator{Catalog: catalog}
	f.Add(`{"owner":{"name":"g"},"location":"x"}`)
	f.Add(`{"owner":[],"properties":{"subnets":[{"name":1}]}}`)
	f.Fuzz(func(t *testing.T, spec string) {
		req := request(network("net", spec))
		dry := true
		req.DryRun = &dry
		v.Handle(t.Context(), req)
		req.Operation, req.OldObject = admissionv1.Update, req.Object
		v.Handle(t.Context(), req)
	})
}

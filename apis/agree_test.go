package apis_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	compute "github.com/armature-dev/armature/apis/compute/v1alpha1"
	network "github.com/armature-dev/armature/apis/network/v1alpha1"
	resources "github.com/armature-dev/armature/apis/resources/v1alpha1"
	storage "github.com/armature-dev/armature/apis/storage/v1alpha1"
	"github.com/armature-dev/armature/config"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

// TestStructsAgreeWithTheRuntimeType fills every field that the descriptor
// lets people write and every one that ARM shows, and takes the result through
// the generated struct and through the type that the manager uses: both must
// keep all of it.
func TestStructsAgreeWithTheRuntimeType(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{compute.AddToScheme, network.AddToScheme, resources.AddToScheme, storage.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	catalog, err := config.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	if len(catalog.All()) == 0 {
		t.Fatal("an empty catalog")
	}
	for _, d := range catalog.All() {
		t.Run(d.Kind, func(t *testing.T) {
			t.Parallel()
			spec := fill(d.Body, false, nil).(map[string]any)
			for _, own := range resource.OwnKeys() {
				delete(spec, own)
			}
			body := field.CloneObject(spec)
			spec["owner"] = map[string]any{"name": "parent"}
			object := map[string]any{
				"apiVersion": d.GVK().GroupVersion().String(), "kind": d.Kind, "metadata": map[string]any{"name": "x"}, "spec": spec,
				"status": map[string]any{"resourceID": "/x", "observed": fill(d.Body, true, nil)},
			}
			text := marshal(t, object)

			typed, err := scheme.New(d.GVK())
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, typed); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, text), decode(t, marshal(t, typed.DeepCopyObject()))); diff != "" {
				t.Errorf("through the struct (-want +got):\n%s", diff)
			}

			var generic resource.Object
			if err := json.Unmarshal(text, &generic); err != nil {
				t.Fatal(err)
			}
			parsed, err := generic.ParseSpec()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, marshal(t, body)), decode(t, marshal(t, parsed.Body))); diff != "" {
				t.Errorf("through the runtime type (-want +got):\n%s", diff)
			}
		})
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t *testing.T, b []byte) any {
	t.Helper()
	v, err := field.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// fill makes a value with every part that is written, or that is observed.
func fill(f *field.Field, observed bool, above []*field.Type) any {
	if f.Behaviours.Has(field.Secret) {
		return map[string]any{"secretKeyRef": map[string]any{"name": "s", "key": "k"}}
	}
	switch f.Kind {
	case field.Object:
		if f.Embedded && !observed {
			return map[string]any{"id": "/x"}
		}
		return object(f, observed, append(slices.Clone(above), f.Type))
	case field.Map:
		return map[string]any{"a.key": fill(f.Elem, observed, above)}
	case field.List:
		if slices.Contains(above, f.Elem.Type) {
			return []any{}
		}
		return []any{fill(f.Elem, observed, above)}
	case field.String:
		return "text"
	case field.Integer:
		return json.Number("7")
	case field.Number:
		return json.Number("1.5")
	case field.Boolean:
		return false
	case field.Any:
	}
	return map[string]any{"any": []any{nil, "thing"}}
}

func object(f *field.Field, observed bool, above []*field.Type) map[string]any {
	out := map[string]any{}
	types := []*field.Type{f.Type}
	for _, tag := range slices.Sorted(maps.Keys(f.Variants))[:min(1, len(f.Variants))] {
		types = append(types, f.Variants[tag])
	}
	for _, t := range types {
		for n, c := range t.Fields {
			if c.Behaviours.Has(field.ReadOnly) && !observed || c.Behaviours.Has(field.Secret) && observed || slices.Contains(above, c.Type) {
				continue
			}
			out[n] = fill(c, observed, above)
		}
	}
	return out
}

package emit

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/pkg/field"
)

// Sample writes a small manifest of a kind: what is required, with values
// that fit.
func Sample(r *classify.Result, _ Options) (File, error) {
	root := Flatten(r.Body)
	spec, _ := sampleObject(root.Type, 0).(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	if l := root.Fields["location"]; l != nil && !l.Behaviours.Has(field.ReadOnly) {
		spec["location"] = "westeurope"
	}
	if len(r.Owners) > 0 {
		spec["owner"] = map[string]any{"name": sampleOwner(r.Owners[0])}
	}
	if r.Name.Fixed != "" {
		spec["azureName"] = r.Name.Fixed
	}
	object := map[string]any{
		"apiVersion": r.GVK().GroupVersion().String(),
		"kind":       r.Kind,
		"metadata":   map[string]any{"name": "sample"},
		"spec":       spec,
	}
	return yamlFile("config/samples/"+sampleName(r), object)
}

func sampleName(r *classify.Result) string {
	return strings.TrimSuffix(r.Group, ".armature.dev") + "_" + strings.ToLower(r.Kind) + ".yaml"
}

func sampleOwner(string) string { return "sample" }

const maxSampleDepth = 12

func sampleObject(t *field.Type, depth int) any {
	out := map[string]any{}
	if t.Embedded || depth > maxSampleDepth {
		return out
	}
	for _, n := range slices.Sorted(maps.Keys(t.Fields)) {
		f := t.Fields[n]
		if f.Behaviours.Has(field.ReadOnly) || own(n) && depth == 0 {
			continue
		}
		if f.Behaviours.Has(field.Required) {
			out[n] = sampleValue(f, depth)
		}
	}
	return out
}

func sampleValue(f *field.Field, depth int) any {
	switch {
	case f.Behaviours.Has(field.Secret):
		return map[string]any{"secretKeyRef": map[string]any{"name": "sample", "key": "value"}}
	case f.Default != nil:
		return f.Default
	case len(f.Enum) > 0 && f.Equality != field.ResourceID:
		return f.Enum[0]
	}
	switch f.Kind {
	case field.Object:
		return sampleObject(f.Type, depth+1)
	case field.Map, field.Any:
		return map[string]any{}
	case field.List:
		list := []any{}
		if f.MinItems != nil && *f.MinItems > 0 && depth < maxSampleDepth {
			list = append(list, sampleValue(f.Elem, depth+1))
		}
		return list
	case field.Integer, field.Number:
		if f.Minimum != nil {
			b, _ := json.Marshal(*f.Minimum) //nolint:errchkjson // a finite number
			return json.Number(b)
		}
		return json.Number("1")
	case field.Boolean:
		return false
	case field.String:
	}
	return sampleString(f)
}

func sampleString(f *field.Field) string {
	switch {
	case f.Equality == field.ResourceID:
		return "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/sample"
	case f.Equality == field.Location:
		return "westeurope"
	case f.Format == "uuid":
		return "00000000-0000-0000-0000-000000000000"
	case f.Format == "date-time":
		return "2030-01-01T00:00:00Z"
	case f.Format == "duration":
		return "PT1H"
	}
	s := "sample"
	if f.MinLength != nil && *f.MinLength < 1000 {
		for int64(len(s)) < *f.MinLength {
			s += "0"
		}
	}
	if f.MaxLength != nil && int64(len(s)) > *f.MaxLength {
		s = s[:*f.MaxLength]
	}
	return s
}

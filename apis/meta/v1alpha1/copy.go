package v1alpha1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClonePtr copies what p points to; nil stays nil. For values without parts.
func ClonePtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// CloneSlice copies a slice item by item; nil stays nil.
func CloneSlice[T any](in []T, item func(T) T) []T {
	if in == nil {
		return nil
	}
	out := make([]T, len(in))
	for i := range in {
		out[i] = item(in[i])
	}
	return out
}

// CloneMap copies a map value by value; nil stays nil.
func CloneMap[T any](in map[string]T, value func(T) T) map[string]T {
	if in == nil {
		return nil
	}
	out := make(map[string]T, len(in))
	for k, v := range in {
		out[k] = value(v)
	}
	return out
}

// CloneJSON copies a value of any shape.
func CloneJSON(in apiextensionsv1.JSON) apiextensionsv1.JSON {
	return apiextensionsv1.JSON{Raw: bytes.Clone(in.Raw)}
}

// DeepCopyInto copies c into out.
func (c *Common) DeepCopyInto(out *Common) {
	*out = *c
	out.Owner, out.Credential, out.Policy = ClonePtr(c.Owner), ClonePtr(c.Credential), ClonePtr(c.Policy)
	if c.Policy != nil {
		out.Policy.Ignore = slices.Clone(c.Policy.Ignore)
	}
}

// DeepCopyInto copies s into out.
func (s *Status) DeepCopyInto(out *Status) {
	*out = *s
	out.Conditions = CloneSlice(s.Conditions, func(c metav1.Condition) metav1.Condition { return *c.DeepCopy() })
	out.Operation = ClonePtr(s.Operation)
	out.Drift = CloneSlice(s.Drift, func(d Drift) Drift {
		d.Wanted, d.Found = bytes.Clone(d.Wanted), bytes.Clone(d.Found)
		return d
	})
	out.Overridden = CloneSlice(s.Overridden, func(o Overridden) Overridden {
		o.Sent, o.Settled = bytes.Clone(o.Sent), bytes.Clone(o.Settled)
		return o
	})
	out.Released, out.Clobbered = slices.Clone(s.Released), slices.Clone(s.Clobbered)
	out.Observed = bytes.Clone(s.Observed)
}

// MarshalOpen writes a struct and, beside its fields, the properties that it
// does not declare.
func MarshalOpen(declared any, extra map[string]apiextensionsv1.JSON) ([]byte, error) {
	b, err := json.Marshal(declared)
	if err != nil || len(extra) == 0 {
		return b, err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("writing an open object: %w", err)
	}
	for k, v := range extra {
		if _, ok := all[k]; !ok {
			all[k] = v.Raw
		}
	}
	return json.Marshal(all)
}

// UnmarshalOpen reads an object into a pointer to a struct, and the properties
// that the struct does not declare into extra.
func UnmarshalOpen(b []byte, declared any, extra *map[string]apiextensionsv1.JSON) error {
	if err := json.Unmarshal(b, declared); err != nil {
		return err
	}
	var all map[string]apiextensionsv1.JSON
	if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("reading an open object: %w", err)
	}
	forget(all, reflect.TypeOf(declared).Elem())
	*extra = nil
	if len(all) > 0 {
		*extra = all
	}
	return nil
}

// forget removes what the fields of a struct hold.
func forget(all map[string]apiextensionsv1.JSON, t reflect.Type) {
	for f := range t.Fields() {
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			forget(all, f.Type)
		} else {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			delete(all, name)
		}
	}
}

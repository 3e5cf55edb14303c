package classify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/generator/swagger"
	"github.com/armature-dev/armature/pkg/field"
)

// Overlay corrects what upstream says of one type.
type Overlay struct {
	// Type is the ARM type.
	Type  string `json:"type"`
	Facts []Fact `json:"facts"`

	// File is where it was read from.
	File string `json:"-"`
}

// Fact is one correction. What is left out stays as it is.
type Fact struct {
	// Path is as field.At reads it: "properties.subnets[].name".
	Path string `json:"path"`
	// Reason says why upstream is wrong; it is required.
	Reason string `json:"reason"`

	Required   *bool           `json:"required,omitempty"`
	ReadOnly   *bool           `json:"readOnly,omitempty"`
	CreateOnly *bool           `json:"createOnly,omitempty"`
	WriteOnly  *bool           `json:"writeOnly,omitempty"`
	Secret     *bool           `json:"secret,omitempty"`
	Nullable   *bool           `json:"nullable,omitempty"`
	Elastic    *bool           `json:"elastic,omitempty"`
	Equality   *field.Equality `json:"equality,omitempty"`
	Keys       *[]string       `json:"keys,omitempty"`
	Children   *string         `json:"children,omitempty"`
	Reset      any             `json:"reset,omitempty"`
	// Replicas makes the field the kind's scale.
	Replicas bool `json:"replicas,omitempty"`
}

// ReadOverlays reads one overlay file. Unknown facts are errors.
func ReadOverlays(file string, b []byte) ([]Overlay, error) {
	var list []Overlay
	if err := yaml.UnmarshalStrict(b, &list); err != nil {
		return nil, fmt.Errorf("reading overlay %s: %w", file, err)
	}
	for i := range list {
		list[i].File = file
		for _, f := range list[i].Facts {
			if f.Reason == "" || f.Path == "" {
				return nil, fmt.Errorf("reading overlay %s: %s: expected a path and a reason for every fact", file, list[i].Type)
			}
		}
	}
	return list, nil
}

// apply makes the corrections for a type. One that matches nothing is an
// error: upstream has moved.
func apply(r *Result, overlays []Overlay, ds *swagger.Diagnostics) {
	for _, o := range overlays {
		if !strings.EqualFold(o.Type, r.Type) {
			continue
		}
		for _, fact := range o.Facts {
			if r.Body == nil || r.Body.At(fact.Path) == nil {
				ds.Add(swagger.Diagnostic{
					Severity: swagger.Error, Type: r.Type, File: o.File, Message: "expected the overlay's path " + fact.Path + " to exist in " + r.Type + "@" + r.APIVersion,
					Hint: "upstream renamed or dropped it: mend the path or remove the fact",
				})
				continue
			}
			r.Body = rewrite(r.Body, steps(fact.Path), func(f *field.Field) { fact.apply(f, o.File) })
			if fact.Replicas {
				r.Replicas = fact.Path
			}
		}
	}
}

// steps takes a path apart: names, and "[]" for items.
func steps(path string) []string {
	var out []string
	for name := range strings.SplitSeq(path, ".") {
		name, item := strings.CutSuffix(name, "[]")
		out = append(out, name)
		if item {
			out = append(out, "[]")
		}
	}
	return out
}

// rewrite copies the nodes along a path, for types are shared, and changes
// the field at its end.
func rewrite(f *field.Field, path []string, change func(*field.Field)) *field.Field {
	c := *f
	c.Evidence = slices.Clone(f.Evidence)
	if len(path) == 0 {
		change(&c)
		return &c
	}
	t := *f.Type
	c.Type = &t
	if path[0] == "[]" {
		t.Elem = rewrite(t.Elem, path[1:], change)
		return &c
	}
	name := path[0]
	_, ok := t.Fields[name]
	if !ok {
		for n := range t.Fields {
			if strings.EqualFold(n, name) {
				name, ok = n, true
			}
		}
	}
	if !ok {
		t.Elem = rewrite(t.Elem, path[1:], change)
		return &c
	}
	t.Fields = maps.Clone(t.Fields)
	t.Fields[name] = rewrite(t.Fields[name], path[1:], change)
	return &c
}

func (o Fact) apply(f *field.Field, file string) {
	for _, b := range []struct {
		set *bool
		to  field.Behaviours
	}{
		{o.Required, field.Required},
		{o.ReadOnly, field.ReadOnly},
		{o.CreateOnly, field.CreateOnly},
		{o.WriteOnly, field.WriteOnly},
		{o.Secret, field.Secret},
		{o.Nullable, field.Nullable},
		{o.Elastic, field.Elastic},
	} {
		if b.set == nil {
			continue
		}
		f.Behaviours &^= b.to
		f.Evidence = slices.DeleteFunc(f.Evidence, func(e field.Evidence) bool { return e.Fact == b.to.String() })
		if *b.set {
			f.Behaviours |= b.to
		}
		note(f, b.to.String(), "overlay", file+": "+o.Reason)
	}
	if o.Equality != nil {
		f.Equality = *o.Equality
		note(f, "equality", "overlay", file+": "+o.Reason)
	}
	if o.Keys != nil {
		t := *f.Type
		t.Keys = *o.Keys
		f.Type = &t
		note(f, "keys", "overlay", file+": "+o.Reason)
	}
	if o.Children != nil {
		f.Children = *o.Children
		note(f, "children", "overlay", file+": "+o.Reason)
	}
	if o.Reset != nil {
		f.Reset = o.Reset
		note(f, "reset", "overlay", file+": "+o.Reason)
	}
}

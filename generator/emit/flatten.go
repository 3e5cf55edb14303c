package emit

import (
	"maps"
	"slices"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

func catalogOf(all []*classify.Result) (*resource.Catalog, error) {
	list := make([]*resource.Descriptor, len(all))
	for i, r := range all {
		list[i] = r.Descriptor
	}
	return resource.NewCatalog(list...)
}

// Flatten copies a tree with each union's variants merged into one object:
// Kubernetes schemas and Go structs know no unions. Where variants disagree on
// a property's shape, it may be anything.
func Flatten(root *field.Field) *field.Field {
	return (&flattener{types: map[*field.Type]*field.Type{}, pairs: map[[2]*field.Type]*field.Type{}}).field(root)
}

type flattener struct {
	types map[*field.Type]*field.Type
	pairs map[[2]*field.Type]*field.Type
}

func (w *flattener) field(f *field.Field) *field.Field {
	if f == nil {
		return nil
	}
	c := *f
	c.Type = w.typ(f.Type)
	return &c
}

func (w *flattener) typ(t *field.Type) *field.Type {
	if t.Kind.Scalar() {
		return t
	}
	if done := w.types[t]; done != nil {
		return done
	}
	c := *t
	c.Variants, c.Fields = nil, nil
	w.types[t] = &c
	c.Elem = w.field(t.Elem)
	if t.Kind != field.Object {
		return &c
	}
	c.Fields = make(map[string]*field.Field, len(t.Fields))
	for n, f := range t.Fields {
		c.Fields[n] = w.field(f)
	}
	for _, tag := range slices.Sorted(maps.Keys(t.Variants)) {
		w.absorb(&c, t.Variants[tag])
	}
	return &c
}

// absorb adds what a variant declares to the union's object.
func (w *flattener) absorb(c, variant *field.Type) {
	for _, n := range slices.Sorted(maps.Keys(variant.Fields)) {
		if n == c.Discriminator {
			continue
		}
		f := w.field(variant.Fields[n])
		have := c.Fields[n]
		if have == nil {
			f.Behaviours &^= field.Required
			c.Fields[n] = f
			continue
		}
		c.Fields[n] = w.both(have, f)
	}
	if variant.Elem != nil && c.Elem == nil {
		c.Elem = w.field(variant.Elem)
	}
}

// both is a field that holds what either of two holds.
func (w *flattener) both(a, b *field.Field) *field.Field {
	c := *a
	c.Behaviours = a.Behaviours&b.Behaviours | (a.Behaviours|b.Behaviours)&(field.Secret|field.Nullable)
	if a.Behaviours.Has(field.Required) && a.Type != b.Type {
		c.Behaviours |= field.Required
	}
	if a.Equality != b.Equality {
		c.Equality = field.Exact
	}
	if a.Type != b.Type {
		c.Type = w.merge(a.Type, b.Type)
	}
	if c.Kind != field.String {
		c.Behaviours &^= field.Secret
	}
	return &c
}

func (w *flattener) merge(a, b *field.Type) *field.Type {
	if a == b {
		return a
	}
	if a.Kind != b.Kind {
		return &field.Type{Kind: field.Any}
	}
	if a.Kind.Scalar() {
		t := &field.Type{Kind: a.Kind}
		if a.Format == b.Format {
			t.Format = a.Format
		}
		return t
	}
	k := [2]*field.Type{a, b}
	if t := w.pairs[k]; t != nil {
		return t
	}
	t := &field.Type{Name: a.Name, Kind: a.Kind, Embedded: a.Embedded && b.Embedded}
	w.pairs[k] = t
	if slices.Equal(a.Keys, b.Keys) {
		t.Keys = a.Keys
	}
	switch {
	case a.Elem != nil && b.Elem != nil:
		t.Elem = w.both(a.Elem, b.Elem)
	case a.Elem != nil:
		t.Elem = a.Elem
	default:
		t.Elem = b.Elem
	}
	if a.Kind == field.Object {
		t.Fields = maps.Clone(a.Fields)
		w.absorbFlat(t, b)
	}
	return t
}

// absorbFlat adds the fields of an object that is flat already.
func (w *flattener) absorbFlat(t, b *field.Type) {
	for n, f := range t.Fields {
		if b.Fields[n] == nil {
			c := *f
			c.Behaviours &^= field.Required
			t.Fields[n] = &c
		}
	}
	for _, n := range slices.Sorted(maps.Keys(b.Fields)) {
		if have := t.Fields[n]; have != nil {
			t.Fields[n] = w.both(have, b.Fields[n])
			continue
		}
		c := *b.Fields[n]
		c.Behaviours &^= field.Required
		t.Fields[n] = &c
	}
}

package swagger

import (
	"maps"

	"github.com/armature-dev/armature/pkg/field"
)

// Schema is a shape with its references, allOf and variants resolved. One
// definition is one Schema, so graphs may be cyclic.
type Schema struct {
	// Name is the definition's name, "" for an inline shape; Key is
	// file#pointer.
	Name, Key string

	Kind   field.Kind
	Format string
	Props  map[string]*Prop
	// Elem is the item, the map's value, or an open object's undeclared
	// property.
	Elem *Prop

	Discriminator string
	Variants      map[string]*Schema

	Enum   []any
	Closed bool
	// Identifiers is x-ms-identifiers; nil where it is absent, empty where it
	// says [].
	Identifiers []string
	// Broken is why the shape could not be resolved; nil where it was.
	Broken *Diagnostic
	// Bodies are the ARM types that this definition is the PUT body of.
	Bodies []string

	field.Limits
}

// Prop is the use of a Schema at one place, with what is said beside a $ref.
type Prop struct {
	*Schema

	// File and Pointer are where the place is.
	File, Pointer string

	Required bool
	ReadOnly bool
	Secret   bool
	Nullable bool
	// Mutability is x-ms-mutability; nil where it is absent.
	Mutability  []string
	Default     any
	Description string
}

// clone copies the schema for a place that says more of its shape; parts stay
// shared.
func (s *Schema) clone() *Schema {
	c := *s
	c.Props = maps.Clone(s.Props)
	return &c
}

// ID is the definition's key; "" for nil.
func (p *Prop) ID() string {
	if p == nil || p.Schema == nil {
		return ""
	}
	return p.Key
}

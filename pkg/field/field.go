// Package field is the one intermediate representation: a graph of fields
// with the behaviours, equality and limits that ARM gives them. The generator
// writes it; the planner, the webhook and the simulator read it. It performs
// no I/O.
package field

import "strings"

// Kind is the JSON shape of a value.
type Kind string

// The kinds. Any stands for a value without a declared shape.
const (
	Object  Kind = "object"
	Map     Kind = "map"
	List    Kind = "list"
	String  Kind = "string"
	Integer Kind = "integer"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Any     Kind = "any"
)

// Scalar reports whether values of the kind have no parts.
func (k Kind) Scalar() bool {
	return k == String || k == Integer || k == Number || k == Boolean
}

// Behaviours is the set of things that a field does beside holding a value.
type Behaviours uint16

// The behaviours. They are inherited: what lies below a read-only field is
// read-only too.
const (
	// Required: a create must send it.
	Required Behaviours = 1 << iota
	// ReadOnly: the service sets it; it is never sent.
	ReadOnly
	// CreateOnly: it is sent at creation and can't be changed afterwards.
	CreateOnly
	// WriteOnly: it is sent, but never returned.
	WriteOnly
	// Secret: a credential; in Kubernetes always a reference to a Secret.
	Secret
	// Nullable: null is a value of its own.
	Nullable
	// Elastic: others change it by right (a capacity, a node count), so a
	// change there is reported and never put back.
	Elastic
)

var behaviourNames = [...]string{"required", "readOnly", "createOnly", "writeOnly", "secret", "nullable", "elastic"} //nolint:gochecknoglobals // a constant table

// Has reports whether all of c are in b.
func (b Behaviours) Has(c Behaviours) bool { return b&c == c }

// String lists the behaviours by name, separated by commas.
func (b Behaviours) String() string {
	var names []string
	for i, n := range behaviourNames {
		if b&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ",")
}

// ParseBehaviours reads what String writes; unknown names are returned as
// the second value.
func ParseBehaviours(s string) (b Behaviours, unknown []string) {
	for n := range strings.SplitSeq(s, ",") {
		found := n == ""
		for i, known := range behaviourNames {
			if n == known {
				b |= 1 << i
				found = true
			}
		}
		if !found {
			unknown = append(unknown, n)
		}
	}
	return b, unknown
}

// Equality says when ARM regards two values of a field as the same.
type Equality string

// The equalities. Exact compares JSON values, numbers by what they denote.
const (
	Exact      Equality = ""
	FoldCase   Equality = "foldCase"
	ResourceID Equality = "resourceID"
	Location   Equality = "location"
	// Unordered lists are equal when they hold the same items in any order.
	Unordered Equality = "unordered"
)

// Field is the use of a Type at one place: as a property, an item or a map's
// value. Fields are shared and must not be changed once built.
type Field struct {
	*Type

	Behaviours Behaviours
	Equality   Equality
	// Default is what the service assumes where the field is left out; nil
	// where the specification says nothing.
	Default any
	// Children is the ARM type whose resources this list also shows (subnets
	// in a virtual network); "" for all other fields. Items that are not in
	// the spec are kept in every request.
	Children string
	// Reset is sent when an owned field is removed from the spec; nil where
	// no overlay gives one.
	Reset any
	// Evidence tells where each behaviour was read.
	Evidence []Evidence
	// Description is upstream's prose; only the generator has it, a Table
	// leaves it out.
	Description string
}

// Evidence is one reason for one fact about a field.
type Evidence struct {
	// Fact is a behaviour's name, or "keys", "equality", "children".
	Fact string `json:"fact"`
	// Source is "marker", "models", "naming" or "overlay".
	Source string `json:"source"`
	// Detail names the marker, the models compared, the rule or the file.
	Detail string `json:"detail,omitempty"`
}

// Type is the shape of a value. Types are shared between fields and may be
// recursive.
type Type struct {
	// Name is the upstream definition's name, "" for an anonymous shape.
	Name string
	Kind Kind
	// Format is the swagger format: int32, int64, date-time, duration, uuid, …
	Format string
	// Fields are an Object's declared properties.
	Fields map[string]*Field
	// Elem is the item of a List, the value of a Map, and the undeclared
	// properties of an Object that is open; nil otherwise.
	Elem *Field
	// Keys name the leaves that tell a List's items apart, as dotted paths in
	// the item; empty for a list that is one value.
	Keys []string
	// Discriminator is the property that selects one of Variants.
	Discriminator string
	Variants      map[string]*Type
	// Enum lists the known values; others are refused only if Closed.
	Enum   []any
	Closed bool
	// Embedded marks a resource of its own shown inside another: here only
	// its id can be written.
	Embedded bool

	Limits
}

// Limits bound a value. A nil pointer or empty string is no limit.
type Limits struct {
	Pattern   string   `json:"pattern,omitempty"`
	MinLength *int64   `json:"minLength,omitempty"`
	MaxLength *int64   `json:"maxLength,omitempty"`
	Minimum   *float64 `json:"minimum,omitempty"`
	Maximum   *float64 `json:"maximum,omitempty"`
	MinItems  *int64   `json:"minItems,omitempty"`
	MaxItems  *int64   `json:"maxItems,omitempty"`
}

// For returns the variant of t that value selects by its discriminator, and t
// itself where t has no variants or none matches.
func (t *Type) For(value map[string]any) *Type {
	if t.Discriminator == "" {
		return t
	}
	tag, ok := value[t.Discriminator].(string)
	if !ok {
		return t
	}
	if v, ok := t.Variants[tag]; ok {
		return v
	}
	for name, v := range t.Variants {
		if strings.EqualFold(name, tag) {
			return v
		}
	}
	return t
}

// Child returns the field of one property, map key or undeclared property of
// value, nil where the type knows none. Names are matched exactly first, then
// without case, as ARM does.
func (t *Type) Child(value map[string]any, name string) *Field {
	v := t.For(value)
	if f, ok := v.Fields[name]; ok {
		return f
	}
	for n, f := range v.Fields {
		if strings.EqualFold(n, name) {
			return f
		}
	}
	if v.Kind == Map || v.Kind == Object {
		return v.Elem
	}
	return nil
}

// Below is Child for a field that may be nil.
func (f *Field) Below(value map[string]any, name string) *Field {
	if f == nil || f.Type == nil {
		return nil
	}
	return f.Child(value, name)
}

// Item is Elem for a field that may be nil.
func (f *Field) Item() *Field {
	if f == nil || f.Type == nil {
		return nil
	}
	return f.Elem
}

// At follows names through objects, list items and map values, and returns
// nil where the path leads nowhere. A "[]" in a name steps into a list's item
// or a map's value: "properties.subnets[].name".
func (f *Field) At(path string) *Field {
	for name := range strings.SplitSeq(path, ".") {
		if name == "" {
			continue
		}
		name, steps := strings.CutSuffix(name, "[]")
		if f == nil || f.Type == nil {
			return nil
		}
		f = f.Child(nil, name)
		if steps {
			if f == nil || f.Type == nil {
				return nil
			}
			f = f.Elem
		}
	}
	return f
}

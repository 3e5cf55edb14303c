package field

import (
	"encoding/json"
	"fmt"
	"sort"
)

// Table is the written form of a graph of types: each type once, fields by
// the index of their type, so that sharing and recursion survive. It is
// deterministic: equal graphs give equal bytes.
type Table struct {
	Types []typeRow           `json:"types"`
	Roots map[string]fieldRow `json:"roots"`
}

type fieldRow struct {
	Type       int        `json:"t"`
	Behaviours string     `json:"b,omitempty"`
	Equality   Equality   `json:"q,omitempty"`
	Default    any        `json:"d,omitempty"`
	Children   string     `json:"c,omitempty"`
	Reset      any        `json:"r,omitempty"`
	Evidence   []Evidence `json:"e,omitempty"`
}

type typeRow struct {
	Name          string              `json:"name,omitempty"`
	Kind          Kind                `json:"kind"`
	Format        string              `json:"format,omitempty"`
	Fields        map[string]fieldRow `json:"fields,omitempty"`
	Elem          *fieldRow           `json:"elem,omitempty"`
	Keys          []string            `json:"keys,omitempty"`
	Discriminator string              `json:"discriminator,omitempty"`
	Variants      map[string]int      `json:"variants,omitempty"`
	Enum          []any               `json:"enum,omitempty"`
	Closed        bool                `json:"closed,omitempty"`
	Embedded      bool                `json:"embedded,omitempty"`
	Limits
}

// NewTable writes the graph below roots. Nil roots are left out.
func NewTable(roots map[string]*Field) *Table {
	w := writer{seen: map[*Type]int{}, scalars: map[string]int{}}
	t := &Table{Roots: map[string]fieldRow{}}
	for _, name := range sortedKeys(roots) {
		if roots[name] != nil {
			t.Roots[name] = w.field(roots[name])
		}
	}
	t.Types = w.rows
	return t
}

type writer struct {
	rows    []typeRow
	seen    map[*Type]int
	scalars map[string]int
}

func (w *writer) field(f *Field) fieldRow {
	return fieldRow{
		Type: w.typ(f.Type), Behaviours: f.Behaviours.String(), Equality: f.Equality,
		Default: f.Default, Children: f.Children, Reset: f.Reset, Evidence: f.Evidence,
	}
}

func (w *writer) typ(t *Type) int {
	if i, ok := w.seen[t]; ok {
		return i
	}
	row := typeRow{
		Name: t.Name, Kind: t.Kind, Format: t.Format, Keys: t.Keys, Discriminator: t.Discriminator,
		Enum: t.Enum, Closed: t.Closed, Embedded: t.Embedded, Limits: t.Limits,
	}
	if t.Kind.Scalar() {
		return w.scalar(t, row)
	}
	i := len(w.rows)
	w.seen[t] = i
	w.rows = append(w.rows, typeRow{})
	if len(t.Fields) > 0 {
		row.Fields = make(map[string]fieldRow, len(t.Fields))
		for _, n := range sortedKeys(t.Fields) {
			row.Fields[n] = w.field(t.Fields[n])
		}
	}
	if t.Elem != nil {
		e := w.field(t.Elem)
		row.Elem = &e
	}
	if len(t.Variants) > 0 {
		row.Variants = make(map[string]int, len(t.Variants))
		for _, n := range sortedKeys(t.Variants) {
			row.Variants[n] = w.typ(t.Variants[n])
		}
	}
	w.rows[i] = row
	return i
}

// scalar shares rows between scalars that say the same.
func (w *writer) scalar(t *Type, row typeRow) int {
	key, _ := json.Marshal(row) //nolint:errchkjson // strings, numbers and booleans only
	i, ok := w.scalars[string(key)]
	if !ok {
		i = len(w.rows)
		w.rows = append(w.rows, row)
		w.scalars[string(key)] = i
	}
	w.seen[t] = i
	return i
}

// Link rebuilds the graph. A reference to a type that is not in the table is
// an error.
func (t *Table) Link() (map[string]*Field, error) {
	types := make([]Type, len(t.Types))
	field := func(r fieldRow) (*Field, error) {
		if r.Type < 0 || r.Type >= len(types) {
			return nil, fmt.Errorf("reading a table of %d types: no type %d", len(types), r.Type)
		}
		b, unknown := ParseBehaviours(r.Behaviours)
		if len(unknown) > 0 {
			return nil, fmt.Errorf("reading a table of types: unknown behaviour %q", unknown)
		}
		return &Field{
			Type: &types[r.Type], Behaviours: b, Equality: r.Equality,
			Default: r.Default, Children: r.Children, Reset: r.Reset, Evidence: r.Evidence,
		}, nil
	}
	for i := range t.Types {
		if err := t.Types[i].link(&types[i], types, field); err != nil {
			return nil, err
		}
	}
	roots := make(map[string]*Field, len(t.Roots))
	for n, r := range t.Roots {
		f, err := field(r)
		if err != nil {
			return nil, err
		}
		roots[n] = f
	}
	return roots, nil
}

func (r *typeRow) link(to *Type, types []Type, field func(fieldRow) (*Field, error)) error {
	*to = Type{
		Name: r.Name, Kind: r.Kind, Format: r.Format, Keys: r.Keys, Discriminator: r.Discriminator,
		Enum: r.Enum, Closed: r.Closed, Embedded: r.Embedded, Limits: r.Limits,
	}
	if len(r.Fields) > 0 {
		to.Fields = make(map[string]*Field, len(r.Fields))
	}
	for n, fr := range r.Fields {
		f, err := field(fr)
		if err != nil {
			return err
		}
		to.Fields[n] = f
	}
	if r.Elem != nil {
		f, err := field(*r.Elem)
		if err != nil {
			return err
		}
		to.Elem = f
	}
	if len(r.Variants) > 0 {
		to.Variants = make(map[string]*Type, len(r.Variants))
	}
	for n, i := range r.Variants {
		if i < 0 || i >= len(types) {
			return fmt.Errorf("reading a table of %d types: no variant type %d", len(types), i)
		}
		to.Variants[n] = &types[i]
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

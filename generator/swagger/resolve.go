package swagger

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/go-openapi/spec"

	"github.com/armature-dev/armature/pkg/field"
)

// at is a schema as written, and where.
type at struct {
	target

	s *spec.Schema
}

func (a at) below(tokens string, s *spec.Schema) at {
	return at{target: target{doc: a.doc, pointer: a.pointer + "/" + tokens}, s: s}
}

// prop resolves the use of a schema: its shape, and what is said of it there.
// What stands beside a $ref wins over what the reference's target says.
func (s *Space) prop(a at) *Prop {
	p := &Prop{File: a.doc.File, Pointer: a.pointer}
	to, ok := wrapped(a)
	if !ok {
		p.Schema = s.fill(&Schema{}, a)
		p.mark(a.s)
		return p
	}
	def, err := s.dereference(to)
	if err != nil {
		p.Schema = &Schema{Kind: field.Any, Broken: asDiagnostic(err)}
		p.mark(a.s)
		return p
	}
	p.mark(def.s)
	p.Schema = s.definition(def)
	p.mark(a.s)
	if reshapes(a.s) {
		c := p.clone()
		c.shape(a.s)
		p.Schema = c
	}
	return p
}

func asDiagnostic(err error) *Diagnostic {
	if err == nil {
		return nil
	}
	if d, ok := errors.AsType[*Diagnostic](err); ok {
		return d
	}
	return &Diagnostic{Severity: Error, Message: err.Error()}
}

// wrapped finds the reference in a place that is one: {$ref}, or a lone allOf.
func wrapped(a at) (at, bool) {
	if a.s.Ref.String() != "" {
		return a, true
	}
	if len(a.s.AllOf) == 1 && len(a.s.Properties) == 0 && a.s.AdditionalProperties == nil && a.s.AllOf[0].Ref.String() != "" {
		return a.below("allOf/0", &a.s.AllOf[0]), true
	}
	return a, false
}

// dereference follows references to the definition behind them.
func (s *Space) dereference(a at) (at, error) {
	fail := func(hint, format string, args ...any) error {
		return &Diagnostic{Severity: Error, File: a.doc.File, Pointer: a.pointer + "/$ref", Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	for range maxRefs {
		if a.s.Ref.String() == "" {
			return a, nil
		}
		to, v, err := s.loader.follow(a.doc, a.s.Ref, a.pointer)
		if err != nil {
			return a, err
		}
		switch x := v.(type) {
		case *spec.Schema:
			a = at{target: to, s: x}
		case spec.Schema:
			a = at{target: to, s: &x}
		default:
			return a, fail(hintRef, "expected %q to lead to a schema", a.s.Ref.String())
		}
	}
	return a, fail("break the circle: one of them must be a definition", "expected references to end, found a circle")
}

// definition resolves a definition once; whoever refers to it shares it.
func (s *Space) definition(a at) *Schema {
	key := a.key()
	if sc := s.memo[key]; sc != nil {
		return sc
	}
	sc := &Schema{Name: a.name(), Key: key, Bodies: s.bodies[key]}
	s.memo[key] = sc
	return s.fill(sc, a)
}

func (s *Space) fill(sc *Schema, a at) *Schema {
	layers, err := s.layers(a, map[string]bool{})
	sc.Broken = asDiagnostic(err)
	typ, required := "", map[string]bool{}
	for _, l := range layers {
		sc.shape(l.s)
		if len(l.s.Type) > 0 {
			typ = l.s.Type[0]
		}
		for _, name := range l.s.Required {
			required[name] = true
		}
	}
	s.parts(sc, layers)
	sc.Kind = kindOf(typ, sc, layers)
	for name, p := range sc.Props {
		p.Required = required[name]
	}
	if sc.Discriminator != "" {
		s.variants(sc)
	}
	return sc
}

// layers are the schemas that make a shape up, bases first.
func (s *Space) layers(a at, seen map[string]bool) ([]at, error) {
	a, err := s.dereference(a)
	if err != nil {
		return nil, err
	}
	if seen[a.key()] {
		s.ds.Warn(a.doc.File, a.pointer+"/allOf", "remove the circle", "expected allOf to end, found a circle; left out")
		return nil, nil
	}
	seen[a.key()] = true
	defer delete(seen, a.key())
	var out []at
	for i := range a.s.AllOf {
		base, err := s.layers(a.below("allOf/"+itoa(i), &a.s.AllOf[i]), seen)
		if err != nil {
			return append(out, a), err
		}
		out = append(out, base...)
	}
	return append(out, a), nil
}

// parts resolves properties, items and additional properties; what a derived
// shape declares again replaces the base's.
func (s *Space) parts(sc *Schema, layers []at) {
	from := map[string]at{}
	for _, l := range layers {
		for name := range l.s.Properties {
			p := l.s.Properties[name]
			from[name] = l.below("properties/"+escape(name), &p)
		}
		if l.s.Discriminator != "" {
			sc.Discriminator = l.s.Discriminator
		}
		if l.s.Items != nil && l.s.Items.Schema != nil {
			sc.Elem = s.prop(l.below("items", l.s.Items.Schema))
		}
		if ap := l.s.AdditionalProperties; ap != nil && (ap.Schema != nil || ap.Allows) {
			sc.Elem = &Prop{Schema: &Schema{Kind: field.Any}, File: l.doc.File, Pointer: l.pointer + "/additionalProperties"}
			if ap.Schema != nil {
				sc.Elem = s.prop(l.below("additionalProperties", ap.Schema))
			}
		}
	}
	if len(from) > 0 {
		sc.Props = make(map[string]*Prop, len(from))
	}
	for _, name := range sortedKeys(from) {
		sc.Props[name] = s.prop(from[name])
	}
}

// kindOf infers the kind where no layer names a type. An object of which
// nothing is said may be anything: upstream writes JSON values so.
func kindOf(typ string, sc *Schema, layers []at) field.Kind {
	switch typ {
	case "string", "file":
		return field.String
	case "integer":
		return field.Integer
	case "number":
		return field.Number
	case "boolean":
		return field.Boolean
	case "array":
		return field.List
	}
	items := false
	for _, l := range layers {
		items = items || l.s.Items != nil
	}
	switch {
	case len(sc.Props) > 0 || sc.Discriminator != "":
		return field.Object
	case items:
		return field.List
	case sc.Elem != nil:
		return field.Map
	case len(sc.Enum) > 0:
		return field.KindOf(sc.Enum[0])
	}
	return field.Any
}

// variants finds the definitions that a discriminator selects, and declares
// the discriminator where upstream forgot to.
func (s *Space) variants(sc *Schema) {
	if sc.Props == nil {
		sc.Props = map[string]*Prop{}
	}
	if sc.Props[sc.Discriminator] == nil {
		sc.Props[sc.Discriminator] = &Prop{Schema: &Schema{Kind: field.String}, Required: true}
	}
	for _, c := range s.descendants(sc.Key) {
		v := c.doc.Swagger.Definitions[c.name()]
		tag, ok := v.Extensions["x-ms-discriminator-value"].(string)
		if !ok {
			tag = c.name()
		}
		if sc.Variants == nil {
			sc.Variants = map[string]*Schema{}
		}
		sc.Variants[tag] = s.definition(at{target: c, s: &v})
	}
}

// reshapes reports whether a place says something of the shape itself.
func reshapes(s *spec.Schema) bool {
	_, ids := s.Extensions["x-ms-identifiers"]
	return ids || len(s.Enum) > 0 || s.Pattern != "" || s.Format != "" || s.MinLength != nil || s.MaxLength != nil ||
		s.Minimum != nil || s.Maximum != nil || s.MinItems != nil || s.MaxItems != nil
}

// shape takes over what s says of format, values and limits.
func (sc *Schema) shape(s *spec.Schema) {
	if s.Format != "" {
		sc.Format = s.Format
	}
	if len(s.Enum) > 0 {
		sc.Enum = scalars(s.Enum)
		x, _ := s.Extensions["x-ms-enum"].(map[string]any)
		open, said := x["modelAsString"].(bool)
		sc.Closed = said && !open
	}
	if ids, ok := s.Extensions["x-ms-identifiers"].([]any); ok {
		sc.Identifiers = []string{}
		for _, id := range ids {
			if t, ok := id.(string); ok {
				sc.Identifiers = append(sc.Identifiers, strings.ReplaceAll(strings.Trim(t, "/"), "/", "."))
			}
		}
	}
	sc.limit(s)
}

func (sc *Schema) limit(s *spec.Schema) {
	if s.Pattern != "" {
		sc.Pattern = s.Pattern
	}
	override(&sc.MinLength, s.MinLength)
	override(&sc.MaxLength, s.MaxLength)
	override(&sc.MinItems, s.MinItems)
	override(&sc.MaxItems, s.MaxItems)
	override(&sc.Minimum, s.Minimum)
	override(&sc.Maximum, s.Maximum)
	whole := len(s.Type) > 0 && s.Type[0] == "integer"
	if whole && s.ExclusiveMinimum && s.Minimum != nil {
		v := *s.Minimum + 1
		sc.Minimum = &v
	}
	if whole && s.ExclusiveMaximum && s.Maximum != nil {
		v := *s.Maximum - 1
		sc.Maximum = &v
	}
}

func override[T any](to **T, from *T) {
	if from != nil {
		*to = from
	}
}

// mark takes over what s says of the place's behaviour.
func (p *Prop) mark(s *spec.Schema) {
	if s.ReadOnly {
		p.ReadOnly = true
	}
	if v, ok := s.Extensions["x-ms-secret"].(bool); ok {
		p.Secret = v
	}
	if s.Format == "password" {
		p.Secret = true
	}
	if v, ok := s.Extensions["x-nullable"].(bool); ok {
		p.Nullable = v
	}
	if list, ok := s.Extensions["x-ms-mutability"].([]any); ok {
		p.Mutability = []string{}
		for _, m := range list {
			if t, ok := m.(string); ok {
				p.Mutability = append(p.Mutability, t)
			}
		}
	}
	if s.Default != nil {
		p.Default = scalar(s.Default)
	}
	if s.Description != "" {
		p.Description = s.Description
	}
}

// scalar gives a number its shortest JSON form: upstream's decoder made
// floats of all.
func scalar(v any) any {
	if f, ok := v.(float64); ok {
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return json.Number(strconv.FormatInt(int64(f), 10))
		}
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return v
}

func scalars(list []any) []any {
	out := make([]any, 0, len(list))
	for _, v := range list {
		if v != nil {
			out = append(out, scalar(v))
		}
	}
	return out
}

func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

func itoa(i int) string { return strconv.Itoa(i) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

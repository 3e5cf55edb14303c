package emit

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

// maxNodes bounds a CRD's schema: what lies deeper than fits is left open, for
// the API server keeps some 7 KB a node.
const maxNodes = 1500

// schemaWriter writes the schema of one kind's spec.
type schemaWriter struct {
	r     *classify.Result
	opts  Options
	root  *field.Field
	stack map[*field.Type]bool
	nodes int
	// depth is how deep objects are spelled out.
	depth int
	rules []apiext.ValidationRule
}

func newSchemaWriter(r *classify.Result, o Options) *schemaWriter {
	return &schemaWriter{r: r, opts: o, root: Flatten(r.Body), stack: map[*field.Type]bool{}}
}

// spec writes the schema as deep as the budget allows.
func (w *schemaWriter) spec() apiext.JSONSchemaProps {
	for w.depth = 24; ; w.depth-- {
		w.nodes, w.rules = 0, nil
		s := w.body()
		if w.nodes <= maxNodes || w.depth <= 3 {
			return s
		}
	}
}

func (w *schemaWriter) body() apiext.JSONSchemaProps {
	s := apiext.JSONSchemaProps{Type: "object", Description: "The ARM body, and what it takes to manage it.", Properties: ownProperties(w.r)}
	w.stack[w.root.Type] = true
	defer delete(w.stack, w.root.Type)
	for _, n := range slices.Sorted(maps.Keys(w.root.Fields)) {
		if _, own := s.Properties[n]; own {
			continue
		}
		f := w.root.Fields[n]
		s.Properties[n] = w.place(f, trail{n}, true)
	}
	if len(w.root.Fields) == 0 || w.root.Elem != nil {
		s.XPreserveUnknownFields = new(true)
	}
	s.XValidations = append(ownRules(), w.rules...)
	return s
}

// place writes a property that people may reach by rules at the root: plain
// tells that only objects lie above it.
func (w *schemaWriter) place(f *field.Field, t trail, plain bool) apiext.JSONSchemaProps {
	if f.Behaviours.Has(field.ReadOnly) {
		return stub(f, t)
	}
	s := w.value(f, t, plain)
	if !plain || s.Type == "" {
		return s
	}
	if f.Behaviours.Has(field.CreateOnly) {
		w.rules = append(w.rules, createOnlyRule(f, t)...)
	}
	if f.Behaviours.Has(field.Required) && (len(t) == 1 || len(t) == 2 && t[0] == "properties") {
		w.rules = append(w.rules, requiredRule(t)...)
	}
	return s
}

// value writes the schema of a value.
func (w *schemaWriter) value(f *field.Field, t trail, plain bool) apiext.JSONSchemaProps {
	w.nodes++
	about := w.about(f, t)
	if f.Behaviours.Has(field.Secret) {
		w.nodes += 3
		return secretSchema(about)
	}
	if w.nodes > maxNodes || len(t) > w.depth {
		return open(about)
	}
	var s apiext.JSONSchemaProps
	switch f.Kind {
	case field.Object:
		s = w.object(f, t, about, plain)
	case field.Map:
		s = apiext.JSONSchemaProps{Type: "object", Description: about}
		if f.Elem == nil || f.Elem.Kind == field.Any {
			s.XPreserveUnknownFields = new(true)
			break
		}
		elem := w.nested(f.Elem, t.with("{}"))
		s.AdditionalProperties = &apiext.JSONSchemaPropsOrBool{Allows: true, Schema: &elem}
	case field.List:
		s = w.list(f, t, about)
	case field.String, field.Integer, field.Number, field.Boolean:
		s = scalarSchema(f, about)
	case field.Any:
		s = open(about)
	}
	s.Nullable = f.Behaviours.Has(field.Nullable) && s.Type != ""
	return s
}

// nested writes an item's or a map value's schema.
func (w *schemaWriter) nested(f *field.Field, t trail) apiext.JSONSchemaProps {
	s := w.value(f, t, false)
	s.Description = ""
	return s
}

func (w *schemaWriter) object(f *field.Field, t trail, about string, plain bool) apiext.JSONSchemaProps {
	switch {
	case f.Embedded:
		w.nodes++
		id := w.value(f.Fields["id"], t.with("id"), false)
		s := object(about, nil, map[string]apiext.JSONSchemaProps{"id": id})
		s.XPreserveUnknownFields = new(true)
		return s
	case w.stack[f.Type]:
		return openObject(about + "; as above")
	case len(f.Fields) == 0:
		return openObject(about)
	}
	w.stack[f.Type] = true
	defer delete(w.stack, f.Type)
	s := apiext.JSONSchemaProps{Type: "object", Description: about, Properties: map[string]apiext.JSONSchemaProps{}}
	top := len(t) == 1 && t[0] == "properties" && plain
	for _, n := range slices.Sorted(maps.Keys(f.Fields)) {
		c := f.Fields[n]
		if c.Behaviours.Has(field.ReadOnly) && !top {
			continue
		}
		s.Properties[n] = w.place(c, t.with(n), plain)
		if c.Behaviours.Has(field.Required) && !top && !c.Behaviours.Has(field.ReadOnly) {
			s.Required = append(s.Required, n)
		}
	}
	if f.Elem != nil {
		s.XPreserveUnknownFields = new(true)
	}
	return s
}

func (w *schemaWriter) list(f *field.Field, t trail, about string) apiext.JSONSchemaProps {
	item := w.nested(f.Elem, t.with("[]"))
	s := list(item, about)
	s.MinItems, s.MaxItems = f.MinItems, f.MaxItems
	if item.Type == "" && item.XPreserveUnknownFields == nil {
		s.Items = &apiext.JSONSchemaPropsOrArray{Schema: new(open(""))}
	}
	if mappable(f, item) {
		s.XListType, s.XListMapKeys = new("map"), f.Keys
	}
	return s
}

// mappable reports whether the API server can tell the items apart: by
// scalars at the item's top that every item must have.
func mappable(f *field.Field, item apiext.JSONSchemaProps) bool {
	if len(f.Keys) == 0 || item.Type != "object" {
		return false
	}
	for _, k := range f.Keys {
		c := f.Elem.Fields[k]
		if c == nil || !c.Kind.Scalar() || c.Behaviours.Has(field.Nullable) || !slices.Contains(item.Required, k) {
			return false
		}
	}
	return true
}

// scalarSchema says the limits that the API server can enforce. Strings that
// hold a resource ID also take references, which fit no pattern.
func scalarSchema(f *field.Field, about string) apiext.JSONSchemaProps {
	s := apiext.JSONSchemaProps{Type: string(f.Kind), Description: about}
	if f.Kind == field.Integer && (f.Format == "int32" || f.Format == "int64") {
		s.Format = f.Format
	}
	if f.Closed && f.Equality != field.ResourceID {
		s.Enum = enumValues(f)
	}
	s.Minimum, s.Maximum = f.Minimum, f.Maximum
	if f.Kind == field.String && f.Equality != field.ResourceID {
		s.MinLength, s.MaxLength = f.MinLength, f.MaxLength
		if _, err := regexp.Compile(f.Pattern); err == nil {
			s.Pattern = f.Pattern
		}
	}
	return s
}

// enumValues are a closed enum's values; a nullable field's schema must list
// null as well.
func enumValues(f *field.Field) []apiext.JSON {
	var out []apiext.JSON
	for _, v := range f.Enum {
		if k := field.KindOf(v); k != f.Kind && !(f.Kind == field.Number && k == field.Integer) {
			return nil
		}
		b, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		if !slices.ContainsFunc(out, func(j apiext.JSON) bool { return string(j.Raw) == string(b) }) {
			out = append(out, apiext.JSON{Raw: b})
		}
	}
	if f.Behaviours.Has(field.Nullable) {
		out = append(out, apiext.JSON{Raw: []byte("null")})
	}
	return out
}

func secretSchema(about string) apiext.JSONSchemaProps {
	return object(about, []string{"secretKeyRef"}, map[string]apiext.JSONSchemaProps{
		"secretKeyRef": object("", []string{"name", "key"}, map[string]apiext.JSONSchemaProps{"name": str(""), "key": str("")}),
	})
}

// stub is a read-only field: declared so that setting it is refused with a
// reason.
func stub(f *field.Field, t trail) apiext.JSONSchemaProps {
	about := "ARM path " + t.String() + "; read-only"
	var s apiext.JSONSchemaProps
	switch f.Kind {
	case field.String, field.Integer, field.Number, field.Boolean:
		s = apiext.JSONSchemaProps{Type: string(f.Kind), Description: about}
	case field.List:
		item := openObject("")
		if f.Elem != nil && f.Elem.Kind.Scalar() {
			item = apiext.JSONSchemaProps{Type: string(f.Elem.Kind)}
		}
		s = list(item, about)
	case field.Object, field.Map, field.Any:
		s = openObject(about)
	}
	s.XValidations = apiext.ValidationRules{{Rule: "false", Message: t.String() + " is read-only: Azure sets it; leave it out"}}
	return s
}

// about tells the ARM path, the shape and the behaviours: facts alone.
func (w *schemaWriter) about(f *field.Field, t trail) string {
	parts := []string{"ARM path " + t.String(), shapeText(f)}
	parts = append(parts, behaviourTexts(f)...)
	if f.Children != "" {
		parts = append(parts, "shows "+f.Children+"; items that others own are kept")
	}
	text := strings.Join(parts, "; ")
	if w.opts.Descriptions && f.Description != "" {
		text += ". " + f.Description
	}
	return text
}

func shapeText(f *field.Field) string {
	switch {
	case f.Embedded:
		return "a resource of its own, by its id"
	case f.Equality == field.ResourceID:
		return "resource ID or ref:Kind/name"
	case f.Kind == field.List && len(f.Keys) > 0:
		return "list by " + strings.Join(f.Keys, ",")
	case f.Kind.Scalar() && len(f.Enum) > 0 && !f.Closed:
		return fmt.Sprintf("%s, known: %s", f.Kind, enumText(f.Enum))
	}
	return string(f.Kind)
}

func enumText(values []any) string {
	var names []string
	for i, v := range values {
		if i == 8 {
			return strings.Join(names, ", ") + ", …"
		}
		names = append(names, fmt.Sprint(v))
	}
	return strings.Join(names, ", ")
}

// behaviourTexts words each behaviour that people should know of.
func behaviourTexts(f *field.Field) []string {
	var out []string
	for _, b := range []struct {
		has  field.Behaviours
		text string
	}{
		{field.Required, "required"},
		{field.CreateOnly, "create-only: can't be changed after creation"},
		{field.Secret, "secret: by reference"},
		{field.Elastic, "elastic: left to others when they change it"},
		{field.ReadOnly, "read-only"},
	} {
		if f.Behaviours.Has(b.has) {
			out = append(out, b.text)
		}
	}
	if f.Behaviours.Has(field.WriteOnly) && !f.Behaviours.Has(field.Secret) {
		out = append(out, "write-only: never shown")
	}
	return out
}

// trail is a path of property names, with "[]" for items and "{}" for map
// values.
type trail []string

func (t trail) with(name string) trail { return append(slices.Clone(t), name) }

// String writes properties.subnets[].name.
func (t trail) String() string {
	var b strings.Builder
	for i, n := range t {
		if i > 0 && n != "[]" {
			b.WriteByte('.')
		}
		b.WriteString(n)
	}
	return b.String()
}

// own reports whether a property of the body has the name of one of ours.
func own(name string) bool { return slices.Contains(resource.OwnKeys(), name) }

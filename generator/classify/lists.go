package classify

import (
	"maps"
	"strings"

	"github.com/armature-dev/armature/generator/swagger"
	"github.com/armature-dev/armature/pkg/field"
)

// childType is the ARM type whose resources a list shows: its items are the
// bodies of a type that lies directly in parent. "" for all other fields.
func childType(name string, p *swagger.Prop, parent string) string {
	if p.Schema == nil || p.Kind != field.List || p.ReadOnly || p.Elem == nil || p.Elem.Schema == nil {
		return ""
	}
	found := ""
	for _, body := range p.Elem.Bodies {
		i := strings.LastIndexByte(body, '/')
		if i < 0 || !strings.EqualFold(body[:i], parent) {
			continue
		}
		if strings.EqualFold(body[i+1:], name) {
			return body
		}
		if found == "" {
			found = body
		}
	}
	return found
}

// children is a list of child resources: the items are whole bodies, told
// apart by their names.
func (b *builder) children(p trio, child string, ctx place) *field.Type {
	main := p.main()
	t := &field.Type{Kind: field.List, Limits: main.Limits}
	var item trio
	for _, side := range []struct{ from, to **swagger.Prop }{{&p.put, &item.put}, {&p.get, &item.get}, {&p.patch, &item.patch}} {
		if *side.from != nil && (*side.from).Schema != nil {
			*side.to = (*side.from).Elem
		}
	}
	in := place{in: child, compare: ctx.compare && item.put != nil && item.get != nil}
	m := models{schema(item.put), schema(item.get), schema(item.patch)}
	t.Elem = &field.Field{Type: b.typ(m, in)}
	if t.Elem.Kind == field.Object && t.Elem.Fields["name"] != nil {
		t.Elem.Type = nameable(t.Elem.Type)
		t.Keys = []string{"name"}
	}
	return t
}

// nameable lets an item's name be written: in a list it is no part of a URL.
func nameable(t *field.Type) *field.Type {
	n := t.Fields["name"]
	if !n.Behaviours.Has(field.ReadOnly) {
		return t
	}
	c := *t
	c.Fields = map[string]*field.Field{}
	maps.Copy(c.Fields, t.Fields)
	c.Fields["name"] = &field.Field{
		Type: n.Type, Evidence: []field.Evidence{{Fact: "keys", Source: "naming", Detail: "name of a child resource"}},
	}
	return &c
}

// listKeys are the leaves that tell items apart: x-ms-identifiers, or without
// it the item's name or id. Keys that can't be written tell nothing apart in a
// spec, so they are no keys.
func listKeys(s *swagger.Schema, item *field.Field) (keys []string, reason field.Evidence) {
	if item.Kind != field.Object {
		return nil, field.Evidence{}
	}
	named := writableString(item, "name") && item.Fields["properties"] != nil
	if s.Identifiers != nil {
		if len(s.Identifiers) == 1 && s.Identifiers[0] == "id" && named {
			return []string{"name"}, byRule("x-ms-identifiers id, which the service makes from the name")
		}
		for _, k := range s.Identifiers {
			if !writableLeaf(item, k) {
				return nil, field.Evidence{}
			}
		}
		return s.Identifiers, field.Evidence{Fact: "keys", Source: "marker", Detail: "x-ms-identifiers"}
	}
	switch {
	case named, writableString(item, "name") && item.Fields["name"].Behaviours.Has(field.Required):
		return []string{"name"}, byRule("items with a name")
	case item.Embedded, writableString(item, "id") && (len(item.Fields) == 1 || item.Fields["id"].Behaviours.Has(field.Required)):
		return []string{"id"}, byRule("items that are references")
	}
	return nil, field.Evidence{}
}

func byRule(detail string) field.Evidence {
	return field.Evidence{Fact: "keys", Source: "naming", Detail: detail}
}

func writableString(f *field.Field, name string) bool {
	c := f.Fields[name]
	return c != nil && c.Kind == field.String && !c.Behaviours.Has(field.ReadOnly) && !c.Behaviours.Has(field.Secret)
}

func writableLeaf(f *field.Field, path string) bool {
	for name := range strings.SplitSeq(path, ".") {
		if f == nil || f.Type == nil || f.Kind != field.Object {
			return false
		}
		f = f.Fields[name]
		if f == nil || f.Behaviours.Has(field.ReadOnly) || f.Behaviours.Has(field.Secret) {
			return false
		}
	}
	return f.Kind.Scalar()
}

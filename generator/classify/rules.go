package classify

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-dev/armature/generator/swagger"
	"github.com/armature-dev/armature/pkg/field"
)

// note records why a fact holds.
func note(f *field.Field, fact, source, detail string) {
	f.Evidence = append(f.Evidence, field.Evidence{Fact: fact, Source: source, Detail: detail})
}

// learn adds behaviours with one reason for all of them.
func learn(f *field.Field, b field.Behaviours, source, detail string) {
	if b &^= f.Behaviours; b == 0 {
		return
	}
	f.Behaviours |= b
	for fact := range strings.SplitSeq(b.String(), ",") {
		note(f, fact, source, detail)
	}
}

// behave reads markers and compares models.
func (b *builder) behave(f *field.Field, p trio, ctx place) {
	main := p.main()
	if p.put != nil && p.put.Required {
		learn(f, field.Required, "marker", "required")
	}
	if main.Nullable {
		learn(f, field.Nullable, "marker", "x-nullable")
	}
	if main.ReadOnly {
		learn(f, field.ReadOnly, "marker", "readOnly")
	}
	mutability(f, main.Mutability)
	if p.put != nil && p.put.Secret || p.get != nil && p.get.Secret {
		secret(f, "marker", "x-ms-secret or format password")
	}
	b.compare(f, p, ctx)
	if f.Behaviours.Has(field.ReadOnly) {
		f.Behaviours &^= field.CreateOnly | field.WriteOnly | field.Required
	}
}

// mutability reads x-ms-mutability; nil is no marker.
func mutability(f *field.Field, m []string) {
	if m == nil {
		return
	}
	read, create, update := slices.Contains(m, "read"), slices.Contains(m, "create"), slices.Contains(m, "update")
	detail := "x-ms-mutability " + strings.Join(m, ",")
	switch {
	case read && !create && !update:
		learn(f, field.ReadOnly, "marker", detail)
	case create && !update:
		learn(f, field.CreateOnly, "marker", detail)
	}
	if !read && (create || update) {
		learn(f, field.WriteOnly, "marker", detail)
	}
}

// secret marks strings, and the strings of a map; a secret of another shape
// is write-only, for a Secret's value is text.
func secret(f *field.Field, source, detail string) {
	switch {
	case f.Kind == field.String:
		learn(f, field.Secret|field.WriteOnly, source, detail)
	case f.Kind == field.Map && f.Elem != nil && f.Elem.Kind == field.String:
		elem := *f.Elem
		learn(&elem, field.Secret|field.WriteOnly, source, detail)
		t := *f.Type
		t.Elem = &elem
		f.Type = &t
		learn(f, field.WriteOnly, source, detail)
	default:
		learn(f, field.WriteOnly, source, detail)
	}
}

// compare tells what only one of the models has.
func (b *builder) compare(f *field.Field, p trio, ctx place) {
	if !ctx.compare {
		return
	}
	switch {
	case p.put == nil && p.patch == nil:
		learn(f, field.ReadOnly, "models", "in GET, not in PUT")
	case p.put != nil && p.get == nil && !f.Behaviours.Has(field.ReadOnly):
		learn(f, field.WriteOnly, "models", "in PUT, not in GET")
	}
	// An update that has no such field while it has the fields around it.
	if b.updates && p.put != nil && p.patch == nil && ctx.patched && !f.Behaviours.Has(field.ReadOnly) {
		learn(f, field.CreateOnly, "models", "in create, not in update")
	}
}

// names applies what a name alone tells.
func names(f *field.Field, name string, p *swagger.Prop) {
	if name == "protectedSettings" && !f.Behaviours.Has(field.ReadOnly) {
		secret(f, "naming", "protected settings are never shown")
	}
	if f.Kind == field.String && !f.Behaviours.Has(field.Secret) && len(p.Enum) == 0 && secretName(name) {
		secret(f, "naming", "looks like a credential")
		if f.Behaviours.Has(field.ReadOnly) {
			f.Behaviours &^= field.WriteOnly
		}
	}
	if f.Equality != field.Exact || f.Kind != field.String {
		return
	}
	switch detail := idLike(name, p); {
	case detail != "":
		f.Equality = field.ResourceID
		note(f, "equality", "naming", detail)
	case name == "location" && len(p.Enum) == 0:
		f.Equality = field.Location
		note(f, "equality", "naming", "location")
	case len(p.Enum) > 0:
		f.Equality = field.FoldCase
		note(f, "equality", "marker", "enum")
	}
}

// idLike tells why a string holds a resource ID; "" where it doesn't.
func idLike(name string, p *swagger.Prop) string {
	lower := strings.ToLower(name)
	switch {
	case p.Format == "arm-id":
		return "format arm-id"
	case name == "id" && !p.ReadOnly:
		return "id of a reference"
	case strings.HasSuffix(lower, "resourceid") || strings.HasSuffix(lower, "armid"):
		return "named …ResourceId"
	case strings.HasSuffix(lower, "id") && strings.Contains(strings.ToLower(p.Pattern), "/subscriptions"):
		return "pattern of an ARM ID"
	}
	return ""
}

// secretName reports whether a string of this name is a credential.
func secretName(name string) bool {
	lower := strings.ToLower(name)
	return lower == "secret" || slices.ContainsFunc([]string{
		"password", "passphrase", "passwd", "secretvalue", "clientsecret", "appsecret", "sharedsecret", "accountkey", "accesskey",
		"sharedkey", "storagekey", "apikey", "privatekey", "authkey", "sastoken", "connectionstring", "primarykey", "secondarykey", "adminkey",
	}, func(suffix string) bool { return strings.HasSuffix(lower, suffix) })
}

// secretAction reports whether a POST of this name answers with credentials.
func secretAction(name string) bool {
	lower := strings.TrimSuffix(strings.ToLower(name), "s")
	return slices.ContainsFunc([]string{"list", "get", "regenerate", "new", "reset"}, func(verb string) bool { return strings.HasPrefix(lower, verb) }) &&
		slices.ContainsFunc([]string{"key", "secret", "credential", "token", "password", "connectionstring", "sa"}, func(what string) bool { return strings.HasSuffix(lower, what) })
}

// rootRules applies what holds for every resource's envelope. The types along
// the way are copied: others may share them.
func rootRules(f *field.Field) {
	t := *f.Type
	t.Fields = maps.Clone(t.Fields)
	f.Type = &t
	_, enveloped := t.Fields["properties"]
	for _, name := range []string{"id", "systemData", "etag", "name", "type"} {
		c := t.Fields[name]
		if c == nil || !enveloped && name != "id" && name != "systemData" {
			continue
		}
		// A PUT that demands its own name or type in the body must get it.
		if named := name == "name" || name == "type"; !named || !c.Behaviours.Has(field.Required) {
			t.Fields[name] = serverOwned(c, name+" of the envelope")
		}
	}
	if c := t.Fields["id"]; c != nil && c.Equality == field.Exact {
		c.Equality = field.ResourceID
		note(c, "equality", "naming", "id of the envelope")
	}
	if c := t.Fields["location"]; c != nil && !c.Behaviours.Has(field.ReadOnly) {
		l := *c
		l.Evidence = slices.Clone(c.Evidence)
		learn(&l, field.CreateOnly, "naming", "location of the envelope")
		t.Fields["location"] = &l
	}
	elastic(&t)
	p := t.Fields["properties"]
	if p == nil || p.Kind != field.Object {
		return
	}
	if state := p.Fields["provisioningState"]; state != nil {
		pf, pt := *p, *p.Type
		pt.Fields = maps.Clone(pt.Fields)
		pt.Fields["provisioningState"] = serverOwned(state, "provisioningState")
		pf.Type = &pt
		t.Fields["properties"] = &pf
	}
}

func serverOwned(f *field.Field, rule string) *field.Field {
	c := *f
	c.Evidence = slices.Clone(f.Evidence)
	learn(&c, field.ReadOnly, "naming", rule)
	c.Behaviours &^= field.Required | field.CreateOnly | field.WriteOnly
	return &c
}

// elastic marks the capacity of a resource's SKU: autoscalers change it.
func elastic(t *field.Type) {
	sku := t.Fields["sku"]
	if sku == nil || sku.Kind != field.Object || sku.Fields["capacity"] == nil || sku.Fields["capacity"].Kind != field.Integer {
		return
	}
	s, st, c := *sku, *sku.Type, *sku.Fields["capacity"]
	c.Evidence = slices.Clone(c.Evidence)
	learn(&c, field.Elastic, "naming", "capacity of the SKU")
	st.Fields = maps.Clone(st.Fields)
	st.Fields["capacity"] = &c
	s.Type = &st
	t.Fields["sku"] = &s
}

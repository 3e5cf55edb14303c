package classify

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-dev/armature/generator/swagger"
	"github.com/armature-dev/armature/pkg/field"
)

// builder merges models into field trees. A type is built once for each
// combination of models, so that cyclic shapes become cyclic trees.
type builder struct {
	res  *swagger.Resource
	ds   *swagger.Diagnostics
	memo map[key]*field.Type
	// updates is true where the PATCH model tells what an update can change.
	updates bool
	// keyed tells why a list has its keys.
	keyed map[*field.Type]field.Evidence
}

// models are the shapes of one place in the PUT, GET and PATCH bodies; any of
// them may be nil.
type models struct {
	put, get, patch *swagger.Schema
}

type key struct {
	models
	ctx place
}

// place is where a shape is met: below which resource type, and how.
type place struct {
	// in is the ARM type whose body surrounds it.
	in string
	// nested is false for the resource's own body, and for items of a list
	// of child resources.
	nested bool
	// compare is true where PUT and GET are told apart below.
	compare bool
	// patched is true where the PATCH model has the shape around it too.
	patched bool
}

func newBuilder(r *swagger.Resource, ds *swagger.Diagnostics) *builder {
	return &builder{res: r, ds: ds, memo: map[key]*field.Type{}, keyed: map[*field.Type]field.Evidence{}}
}

// body is the tree of what a resource's body can hold.
func (b *builder) body(put, get, patch *swagger.Operation) *field.Field {
	answer := get.Answer(200)
	if answer == nil {
		answer = put.Answer(200, 201)
	}
	m := models{put: schema(put.Body), get: schema(answer)}
	if patch != nil {
		m.patch = schema(patch.Body)
	}
	b.updates = createVerb(put.ID) && m.patch != nil && !tagsOnly(m.patch)
	main := put.Body
	if main == nil {
		main = answer
	}
	if main == nil {
		b.ds.Add(swagger.Diagnostic{
			Severity: swagger.Warning, Type: b.res.Type, File: put.File, Pointer: put.Pointer,
			Message: "expected a body or an answer with a shape, found neither", Hint: "the kind has no fields but its name",
		})
		return &field.Field{Type: &field.Type{Kind: field.Object}}
	}
	f := &field.Field{Type: b.typ(m, place{in: b.res.Type, compare: m.get != nil})}
	if f.Kind != field.Object && main.Broken == nil {
		b.ds.Add(swagger.Diagnostic{
			Severity: swagger.Warning, Type: b.res.Type, File: main.File, Pointer: main.Pointer,
			Message: "expected an object, found " + string(f.Kind), Hint: "the body is left open",
		})
	}
	if f.Kind != field.Object {
		f.Type = &field.Type{Kind: field.Object}
	}
	rootRules(f)
	return f
}

// single is the tree of one model alone.
func (b *builder) single(p *swagger.Prop) *field.Field {
	c := newBuilder(b.res, b.ds)
	return &field.Field{Type: c.typ(models{put: p.Schema}, place{in: b.res.Type})}
}

func schema(p *swagger.Prop) *swagger.Schema {
	if p == nil {
		return nil
	}
	return p.Schema
}

func createVerb(operation string) bool {
	_, verb, ok := strings.Cut(operation, "_")
	return ok && (verb == "Create" || verb == "BeginCreate")
}

func tagsOnly(s *swagger.Schema) bool {
	return len(s.Props) <= 1 && s.Props["tags"] != nil
}

// typ builds the type of one combination of models.
func (b *builder) typ(m models, ctx place) *field.Type {
	if m.put == m.get && !b.updates {
		m.patch = nil
	}
	main := m.put
	if main == nil {
		main = m.get
	}
	k := key{models: m, ctx: ctx}
	if t := b.memo[k]; t != nil {
		return t
	}
	b.broken(m)
	t := &field.Type{
		Name: main.Name, Kind: main.Kind, Format: main.Format,
		Enum: main.Enum, Closed: main.Closed, Limits: main.Limits,
	}
	if t.Kind == "" {
		t.Kind = field.Any
	}
	b.memo[k] = t
	if ctx.nested && len(main.Bodies) > 0 && main.Props["id"] != nil {
		embed(t)
		return t
	}
	ctx.nested, ctx.patched = true, m.patch != nil
	b.fields(t, m, ctx)
	if elem := elemOf(m, main); elem != nil {
		t.Elem = b.use("", *elem, ctx)
	}
	if t.Kind == field.List {
		if t.Elem == nil {
			t.Elem = &field.Field{Type: &field.Type{Kind: field.Any}}
		}
		t.Keys, b.keyed[t] = listKeys(main, t.Elem)
	}
	return t
}

// broken reports shapes that could not be resolved: the type can't be
// generated then.
func (b *builder) broken(m models) {
	for _, s := range []*swagger.Schema{m.put, m.get} {
		if s != nil && s.Broken != nil {
			d := *s.Broken
			d.Type = b.res.Type
			b.ds.Add(d)
		}
	}
}

// embed makes t a resource of its own: its id can be written, the rest is
// shown as it is.
func embed(t *field.Type) {
	t.Kind, t.Embedded = field.Object, true
	t.Fields = map[string]*field.Field{"id": {
		Type: &field.Type{Kind: field.String}, Equality: field.ResourceID,
		Evidence: []field.Evidence{{Fact: "equality", Source: "naming", Detail: "id of a resource shown inside another"}},
	}}
	t.Elem = &field.Field{
		Type: &field.Type{Kind: field.Any}, Behaviours: field.ReadOnly,
		Evidence: []field.Evidence{{Fact: "readOnly", Source: "models", Detail: "body of a resource of its own"}},
	}
}

// trio is one place in the PUT, GET and PATCH bodies.
type trio struct {
	put, get, patch *swagger.Prop
}

func (t trio) main() *swagger.Prop {
	if t.put != nil {
		return t.put
	}
	return t.get
}

func elemOf(m models, main *swagger.Schema) *trio {
	if main.Elem == nil {
		return nil
	}
	var t trio
	for _, side := range []struct {
		s  *swagger.Schema
		to **swagger.Prop
	}{{m.put, &t.put}, {m.get, &t.get}, {m.patch, &t.patch}} {
		if side.s != nil {
			*side.to = side.s.Elem
		}
	}
	return &t
}

// fields builds an object's properties and variants, of whichever model has
// them.
func (b *builder) fields(t *field.Type, m models, ctx place) {
	if t.Kind != field.Object {
		return
	}
	names, tags := map[string]bool{}, map[string]bool{}
	for _, s := range []*swagger.Schema{m.put, m.get} {
		if s == nil {
			continue
		}
		for n := range s.Props {
			names[n] = true
		}
		for tag := range s.Variants {
			tags[tag] = true
		}
		if t.Discriminator == "" && len(s.Variants) > 0 {
			t.Discriminator = s.Discriminator
		}
	}
	t.Fields = make(map[string]*field.Field, len(names))
	for _, n := range slices.Sorted(maps.Keys(names)) {
		prop := func(s *swagger.Schema) *swagger.Prop {
			if s == nil {
				return nil
			}
			return s.Props[n]
		}
		t.Fields[n] = b.use(n, trio{prop(m.put), prop(m.get), prop(m.patch)}, ctx)
	}
	b.variants(t, m, ctx, slices.Sorted(maps.Keys(tags)))
}

func (b *builder) variants(t *field.Type, m models, ctx place, tags []string) {
	ctx.nested = false // a variant is the place that its base is
	for _, tag := range tags {
		variant := func(s *swagger.Schema) *swagger.Schema {
			if s == nil {
				return nil
			}
			return s.Variants[tag]
		}
		if t.Variants == nil {
			t.Variants = map[string]*field.Type{}
		}
		t.Variants[tag] = b.typ(models{variant(m.put), variant(m.get), variant(m.patch)}, ctx)
	}
}

// use builds the field of one place.
func (b *builder) use(name string, p trio, ctx place) *field.Field {
	main := p.main()
	both := ctx.compare && p.put != nil && p.get != nil
	in := ctx
	in.compare = both
	child := childType(name, main, ctx.in)
	f := &field.Field{Default: main.Default, Description: main.Description}
	if child != "" {
		f.Type = b.children(p, child, in)
		f.Children = child
		note(f, "children", "models", "items are bodies of "+child)
	} else {
		f.Type = b.typ(models{schema(p.put), schema(p.get), schema(p.patch)}, in)
	}
	if len(f.Keys) > 0 && child == "" {
		f.Evidence = append(f.Evidence, b.keyed[f.Type])
	}
	b.behave(f, p, ctx)
	names(f, name, main)
	return f
}

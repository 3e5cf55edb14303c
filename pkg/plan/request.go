package plan

import (
	"strings"

	"github.com/armature-dev/armature/pkg/field"
)

// CreateBody is the body of the PUT that creates: the spec less what is
// read-only or ignored. Hidden values are still hidden.
func (in Input) CreateBody() map[string]any {
	body, _ := writable(scope{f: in.Body}, strip(in.Desired, in.Policy.Ignore)).(map[string]any)
	return body
}

// PutBody is the body of the PUT that carries a plan out: what ARM holds,
// projected onto what can be written, with the changes made and what ARM never
// shows put back from the spec.
func (in Input) PutBody(p Plan) map[string]any {
	body, _ := writable(scope{f: in.Body}, field.CloneObject(in.Observed)).(map[string]any)
	if body == nil {
		body = map[string]any{}
	}
	for _, c := range p.Changes {
		apply(body, c)
	}
	restore(scope{f: in.Body}, nil, in.Desired, body)
	return body
}

// restore puts write-only parts of the spec into a body that came from a GET.
func restore(s scope, p field.Path, want any, body map[string]any) {
	switch x := want.(type) {
	case map[string]any:
		for k, e := range x {
			c := s.child(x, k)
			at := p.Name(k)
			if hidden(e) || c.has(field.WriteOnly) {
				put(body, at, field.Clone(e))
			} else {
				restore(c, at, e, body)
			}
		}
	case []any:
		for i, e := range x {
			at := s.itemPath(p, i, e)
			if _, exists := field.Lookup(body, at); exists {
				restore(s.item(), at, e, body)
			}
		}
	}
}

// itemPath is the path of a list's i-th item: by its keys where it has them.
func (s scope) itemPath(p field.Path, i int, item any) field.Path {
	if s.keyed() {
		if keys, ok := s.f.ItemKeys(item); ok {
			return p.Item(keys...)
		}
	}
	return p.At(i)
}

// writable copies v less what can't be written: read-only and undeclared
// fields, nulls, and all but the id of a resource shown inside another.
func writable(s scope, v any) any {
	switch x := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(x))
		if s.f != nil && s.f.Type != nil && s.f.Embedded {
			if id := get(x, "id"); id != nil {
				return map[string]any{"id": id}
			}
		}
		for k, e := range x {
			cs := s.child(x, k)
			if e == nil || cs.has(field.ReadOnly) || undeclared(s, cs) {
				continue
			}
			c[k] = writable(cs, e)
		}
		return c
	case []any:
		c := make([]any, 0, len(x))
		for _, e := range x {
			c = append(c, writable(s.item(), e))
		}
		return c
	}
	return v
}

func undeclared(parent, child scope) bool {
	return child.f == nil && parent.f != nil && parent.f.Type != nil && parent.f.Kind == field.Object && len(parent.f.Fields) > 0
}

// PatchBody is the body of the PATCH that carries a plan out: each change in
// its place, what a PATCH replaces as a unit (lists, tags, free maps) whole,
// and what the PATCH model requires from what ARM holds.
func (in Input) PatchBody(p Plan) map[string]any {
	after, _ := writable(scope{f: in.Patch}, in.after(p)).(map[string]any)
	body := map[string]any{}
	for _, c := range p.Changes {
		at := in.unit(c.Path)
		value, ok := field.Lookup(after, at)
		switch {
		case ok:
			put(body, at, field.Clone(value))
			in.nullRemoved(body, at, c)
		default:
			putNull(body, at)
		}
	}
	in.require(body, after)
	return body
}

// nullRemoved says null for a key that left a free map: leaving it out would
// keep it under RFC 7396. Tags are replaced as a whole and take no null.
func (in Input) nullRemoved(body map[string]any, unit field.Path, c Change) {
	if c.New != nil || len(c.Path) != len(unit)+1 || unit[0].Name == tagsKey {
		return
	}
	if s := c.Path[len(unit)]; s.Name != "" {
		putNull(body, c.Path)
	}
}

func putNull(body map[string]any, p field.Path) {
	if len(p) == 0 {
		return
	}
	parent, _ := field.Lookup(body, p[:len(p)-1])
	m := asMap(parent)
	if m == nil {
		m = map[string]any{}
		put(body, p[:len(p)-1], m)
	}
	if len(p) == 1 {
		m = body
	}
	m[p[len(p)-1].Name] = nil
}

// after is what ARM should hold once the plan is carried out.
func (in Input) after(p Plan) map[string]any {
	after := field.CloneObject(in.Observed)
	for _, c := range p.Changes {
		apply(after, c)
	}
	return after
}

// unit is the outermost part of a path that a PATCH replaces as a whole: a
// list or a free map.
func (in Input) unit(p field.Path) field.Path {
	f := in.Patch
	for i, s := range p {
		if f == nil || f.Type == nil || len(s.Keys) > 0 || s.Index >= 0 {
			return p[:i]
		}
		if f.Kind == field.Map || f.Kind == field.Any || f.Kind == field.Object && len(f.Fields) == 0 && i > 0 {
			return p[:i]
		}
		f = f.Child(nil, s.Name)
	}
	return p
}

// expressible reports whether the PATCH model can say every change without
// losing anything in the units that it replaces.
func (in Input) expressible(changes []Change) bool {
	after := in.after(Plan{Changes: changes})
	for _, c := range changes {
		unit := in.unit(c.Path)
		f := fieldAt(in.Patch, unit)
		if f == nil || f.Behaviours.Has(field.ReadOnly) || in.readOnlyAbove(unit) {
			return false
		}
		if value, ok := field.Lookup(after, unit); ok {
			full := writable(scope{f: fieldAt(in.Body, unit)}, value)
			if !field.Covers(nil, full, writable(scope{f: f}, full)) {
				return false
			}
		}
	}
	return true
}

func (in Input) readOnlyAbove(p field.Path) bool {
	for i := range p {
		if f := fieldAt(in.Patch, p[:i]); f != nil && f.Behaviours.Has(field.ReadOnly) {
			return true
		}
	}
	return false
}

// require adds what the PATCH model requires of the objects in the body.
func (in Input) require(body, after map[string]any) {
	requireIn(in.Patch, body, after)
}

func requireIn(f *field.Field, body, after map[string]any) {
	if f == nil || f.Type == nil {
		return
	}
	t := f.For(body)
	for name, c := range t.Fields {
		key, present := field.FoldedKey(body, name)
		live := get(after, name)
		if !present && c.Behaviours.Has(field.Required) && !c.Behaviours.Has(field.ReadOnly) && live != nil {
			body[name] = field.Clone(live)
			continue
		}
		if m := asMap(body[key]); present && m != nil {
			requireIn(c, m, asMap(live))
		}
	}
}

// TagsBody is one request to the tags resource.
type TagsBody struct {
	// Operation is Merge or Delete.
	Operation string
	Tags      map[string]any
}

// TagRequests are the requests that carry a tag-only plan out, in order.
func TagRequests(p Plan) []TagsBody {
	merge, drop := map[string]any{}, map[string]any{}
	for _, c := range p.Changes {
		name := c.Path[len(c.Path)-1].Name
		if c.New == nil {
			drop[name] = c.Old
		} else {
			merge[name] = c.New
		}
	}
	var requests []TagsBody
	if len(merge) > 0 {
		requests = append(requests, TagsBody{Operation: "Merge", Tags: merge})
	}
	if len(drop) > 0 {
		requests = append(requests, TagsBody{Operation: "Delete", Tags: drop})
	}
	return requests
}

// Settle lists what ARM made of the values that were just sent: every wanted
// leaf that it now holds otherwise. Elastic fields never settle.
func (in Input) Settle() []Settled {
	probe := in
	probe.Applied, probe.Pending, probe.Settled = in.Desired, nil, nil
	probe.Policy.ReportDrift = true
	var settled []Settled
	for _, d := range New(probe).Drift {
		if f := fieldAt(in.Body, d.Path); f != nil && f.Behaviours.Has(field.Elastic) {
			continue
		}
		settled = append(settled, Settled{Path: d.Path.String(), Sent: d.Wanted, Settled: d.Found})
	}
	return settled
}

// Lost lists the leaves of others that were in before, not among the changes,
// and are gone or different in after: what a PUT of ours clobbered.
func Lost(body *field.Field, before, after map[string]any, changes []Change) []field.Path {
	expect, _ := writable(scope{f: body}, field.CloneObject(before)).(map[string]any)
	for _, c := range changes {
		remove(expect, c.Path)
	}
	var lost []field.Path
	collectLost(nil, scope{f: body}, expect, after, &lost)
	return lost
}

func collectLost(p field.Path, s scope, want, have any, lost *[]field.Path) {
	if field.Covers(s.f, want, have) || strings.HasSuffix(p.String(), "etag") {
		return
	}
	switch x := want.(type) {
	case map[string]any:
		for _, k := range union(x) {
			collectLost(p.Name(k), s.child(x, k), x[k], get(asMap(have), k), lost)
		}
		return
	case []any:
		if s.keyed() {
			mine, theirs := index(s.f, want), index(s.f, have)
			for _, k := range mine.order {
				at := p.Item(mine.keys[k]...)
				if theirs.items[k] == nil {
					*lost = append(*lost, at)
					continue
				}
				collectLost(at, s.item(), mine.items[k], theirs.items[k], lost)
			}
			return
		}
	}
	*lost = append(*lost, p)
}

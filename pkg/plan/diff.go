package plan

import (
	"fmt"
	"sort"

	"github.com/armature-dev/armature/pkg/field"
)

// sides are the values of one place: wanted, confirmed, sent and observed.
type sides struct {
	want, applied, pending, have any
}

// scope is a field with what it inherits from those above it.
type scope struct {
	f         *field.Field
	inherited field.Behaviours
}

const passedDown = field.ReadOnly | field.CreateOnly | field.WriteOnly | field.Secret

func (s scope) child(value map[string]any, name string) scope {
	return s.below(s.f.Below(value, name))
}

func (s scope) below(f *field.Field) scope {
	c := scope{f: f, inherited: s.inherited}
	if f != nil {
		c.inherited |= f.Behaviours & passedDown
	}
	return c
}

func (s scope) has(b field.Behaviours) bool {
	return s.inherited&b != 0 || s.f != nil && s.f.Behaviours&b != 0
}

func (s scope) keyed() bool {
	return s.f != nil && s.f.Type != nil && s.f.Kind == field.List && len(s.f.Keys) > 0
}

type differ struct {
	in   Input
	plan *Plan
}

func (d differ) ignored(p field.Path) bool {
	s := p.String()
	for _, i := range d.in.Policy.Ignore {
		if i.String() == s {
			return true
		}
	}
	return false
}

// object merges property by property, or map key by map key.
func (d differ) object(p field.Path, s scope, v sides) {
	want, have := asMap(v.want), asMap(v.have)
	applied, pending := asMap(v.applied), asMap(v.pending)
	for _, name := range union(want, applied, pending) {
		at := p.Name(name)
		c := s.child(want, name)
		if c.has(field.ReadOnly) || d.ignored(at) {
			continue
		}
		side := sides{want: get(want, name), applied: get(applied, name), pending: get(pending, name), have: get(have, name)}
		if _, wanted := field.FoldedKey(want, name); wanted {
			d.value(at, c, side)
		} else {
			d.removed(at, c, side, s.f == nil || s.f.Type == nil || !declared(s.f.For(have), name))
		}
	}
}

// declared tells a type's own properties from the keys of a map.
func declared(f *field.Type, name string) bool {
	child := f.Child(nil, name)
	return child != nil && child != f.Elem
}

// value compares what is wanted, by the kind of it.
func (d differ) value(p field.Path, s scope, v sides) {
	switch want := v.want.(type) {
	case map[string]any:
		if _, ok := v.have.(map[string]any); ok || v.have == nil && len(want) > 0 {
			d.object(p, s, v)
			return
		}
	case []any:
		if s.keyed() && unique(s.f, want) && unique(s.f, asList(v.have)) {
			d.items(p, s, v)
			return
		}
	}
	d.leaf(p, s, v)
}

// items merges a keyed list item by item.
func (d differ) items(p field.Path, s scope, v sides) {
	want, have := index(s.f, v.want), index(s.f, v.have)
	applied, pending := index(s.f, v.applied), index(s.f, v.pending)
	if len(want.order) == 0 && v.have == nil && v.applied == nil {
		d.leaf(p, s, v)
		return
	}
	item := s.below(s.f.Elem)
	seen := map[string]bool{}
	for _, list := range []keyedItems{want, applied, pending} {
		for _, key := range list.order {
			if seen[key] {
				continue
			}
			seen[key] = true
			at := p.Item(list.keys[key]...)
			side := sides{want: want.items[key], applied: applied.items[key], pending: pending.items[key], have: have.items[key]}
			switch {
			case d.ignored(at):
			case side.want == nil:
				d.removed(at, item, side, true)
			case side.have == nil:
				d.leaf(at, item, side)
			default:
				d.value(at, item, side)
			}
		}
	}
}

// leaf compares one value that is sent as a whole.
func (d differ) leaf(p field.Path, s scope, v sides) {
	want := v.want
	if s.has(field.WriteOnly) || hidden(want) {
		d.unseen(p, s, v)
		return
	}
	visible := want
	if holdsUnseen(s, want) {
		if !field.Equal(s.f, want, v.applied) && !(v.have != nil && v.applied == nil && s.has(field.CreateOnly)) {
			d.set(p, s, v)
			return
		}
		visible = withoutUnseen(s, want)
	}
	if field.Covers(s.f, visible, v.have) && (v.have != nil || want == nil || ours(s, v)) {
		return
	}
	if d.settled(p, s, v) {
		return
	}
	if ours(s, v) && !d.drift(p, s, v) {
		return
	}
	d.set(p, s, v)
}

// ours reports whether the value was confirmed, and nothing else has been
// sent since.
func ours(s scope, v sides) bool {
	if v.applied == nil || !field.Equal(s.f, v.want, v.applied) {
		return false
	}
	return v.pending == nil || field.Equal(s.f, v.want, v.pending)
}

// drift reports a value of ours that others changed; true where it is to be
// put back.
func (d differ) drift(p field.Path, s scope, v sides) bool {
	left := d.in.Policy.ReportDrift || s.has(field.Elastic) || s.has(field.CreateOnly)
	d.plan.Drift = append(d.plan.Drift, Drift{Path: p, Wanted: v.want, Found: v.have, Left: left})
	return !left
}

func (d differ) settled(p field.Path, s scope, v sides) bool {
	at := p.String()
	for _, x := range d.in.Settled {
		if x.Path == at && field.Equal(s.f, v.want, x.Sent) && field.Equal(s.f, v.have, x.Settled) {
			return true
		}
	}
	return false
}

// unseen compares what ARM never shows with what was confirmed.
func (d differ) unseen(p field.Path, s scope, v sides) {
	switch {
	case v.applied != nil && field.Equal(s.f, v.want, v.applied):
	case v.applied == nil && s.has(field.CreateOnly):
		// Adopted: what it was created with can't be known, nor changed.
	default:
		d.set(p, s, v)
	}
}

func (d differ) set(p field.Path, s scope, v sides) {
	if s.has(field.CreateOnly) {
		detail := fmt.Sprintf("set at creation, now %s; change it back, or delete and create the resource again", show(v.have))
		d.plan.Refused = append(d.plan.Refused, field.Problem{Path: p, Reason: CreateOnlyChange, Detail: detail})
		return
	}
	cause := Spec
	if ours(s, v) && !s.has(field.WriteOnly) && !hidden(v.want) {
		cause = Drifted
	}
	d.plan.Changes = append(d.plan.Changes, Change{Path: p, Old: v.have, New: v.want, Cause: cause})
}

// show names an observed value in a message; secrets are never observed.
func show(v any) string {
	if v == nil {
		return "hidden or unset"
	}
	s := fmt.Sprint(v)
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return s
}

// removed handles what is ours and has left the spec: reset where the way is
// known, released otherwise.
func (d differ) removed(p field.Path, s scope, v sides, key bool) {
	owned := v.applied
	if owned == nil {
		owned = v.pending
	}
	if owned == nil || v.have == nil || field.Empty(owned) && field.Empty(v.have) {
		return
	}
	if key && !s.has(field.Elastic|field.CreateOnly) && field.Covers(s.f, withoutUnseen(s, owned), v.have) {
		d.plan.Changes = append(d.plan.Changes, Change{Path: p, Old: v.have, Cause: Removed})
		return
	}
	if _, ok := v.have.(map[string]any); ok && !key {
		if _, ok := owned.(map[string]any); ok {
			v.want = nil
			d.object(p, s, v)
			return
		}
	}
	if s.keyed() && !key {
		v.want = []any{}
		d.items(p, s, v)
		return
	}
	d.reset(p, s, v, owned)
}

func (d differ) reset(p field.Path, s scope, v sides, owned any) {
	if s.has(field.Elastic|field.CreateOnly|field.WriteOnly) || !field.Covers(s.f, owned, v.have) || s.f == nil {
		d.plan.Released = append(d.plan.Released, p)
		return
	}
	to := s.f.Reset
	if to == nil {
		to = s.f.Default
	}
	switch {
	case to != nil && field.Covers(s.f, to, v.have):
	case to != nil:
		d.plan.Changes = append(d.plan.Changes, Change{Path: p, Old: v.have, New: to, Cause: Reset})
	case d.in.nullable(p, s):
		d.plan.Changes = append(d.plan.Changes, Change{Path: p, Old: v.have, Cause: Reset})
	default:
		d.plan.Released = append(d.plan.Released, p)
	}
}

func (in Input) nullable(p field.Path, s scope) bool {
	return s.has(field.Nullable) && !s.has(field.Required) && in.Patch != nil && !in.Policy.NoPatch && fieldAt(in.Patch, p) != nil
}

type keyedItems struct {
	order []string
	keys  map[string][]field.KeyValue
	items map[string]any
}

func index(f *field.Field, v any) keyedItems {
	k := keyedItems{keys: map[string][]field.KeyValue{}, items: map[string]any{}}
	for _, item := range asList(v) {
		keys, ok := f.ItemKeys(item)
		if !ok {
			continue
		}
		id := fold(keys)
		if _, dup := k.items[id]; !dup {
			k.order = append(k.order, id)
		}
		k.keys[id], k.items[id] = keys, item
	}
	return k
}

// unique reports whether every item has its keys and no two the same.
func unique(f *field.Field, items []any) bool {
	seen := map[string]bool{}
	for _, item := range items {
		keys, ok := f.ItemKeys(item)
		if !ok || seen[fold(keys)] {
			return false
		}
		seen[fold(keys)] = true
	}
	return true
}

func union(maps ...map[string]any) []string {
	names := map[string]bool{}
	var order []string
	for _, m := range maps {
		for k := range m {
			if !names[k] {
				names[k] = true
				order = append(order, k)
			}
		}
	}
	sort.Strings(order)
	return order
}

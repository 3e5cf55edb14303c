package armsim

import (
	"slices"
	"strings"
	"time"

	"github.com/armature-dev/armature/pkg/field"
)

const (
	stateField = "provisioningState"
	properties = "properties"
)

// declared finds the declared spelling and the field of one property; the
// name as given where the type does not declare it.
func declared(t *field.Type, m map[string]any, name string) (string, *field.Field) {
	v := t.For(m)
	if f, ok := v.Fields[name]; ok {
		return name, f
	}
	for n, f := range v.Fields {
		if strings.EqualFold(n, name) {
			return n, f
		}
	}
	return name, t.Child(m, name)
}

// accept copies of sent what a client may set, in the declared spelling:
// read-only fields are dropped, and so are nulls unless they are kept for a
// merge patch.
func accept(f *field.Field, sent any, keepNull bool) any {
	switch x := sent.(type) {
	case map[string]any:
		return acceptObject(f, x, keepNull)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = accept(elem(f), x[i], keepNull)
		}
		return out
	}
	return sent
}

func acceptObject(f *field.Field, m map[string]any, keepNull bool) map[string]any {
	out := make(map[string]any, len(m))
	if f == nil || f.Type == nil {
		return field.CloneObject(m)
	}
	for k, v := range m {
		name, c := declared(f.Type, m, k)
		switch {
		case c != nil && c.Behaviours.Has(field.ReadOnly):
		case v == nil && !keepNull:
		case f.Embedded && !strings.EqualFold(name, "id"):
		default:
			out[name] = accept(c, v, keepNull)
		}
	}
	return out
}

// childOf is the field of one property; nil where nothing declares it.
func childOf(f *field.Field, m map[string]any, name string) *field.Field {
	if f == nil || f.Type == nil {
		return nil
	}
	return f.Child(m, name)
}

func elem(f *field.Field) *field.Field {
	if f == nil || f.Type == nil {
		return nil
	}
	return f.Elem
}

// replace is what a PUT of sent makes of old: sent, with what only the
// service sets kept from old, and defaults where sent says nothing.
// keepSecrets keeps those that sent leaves out, since no GET shows them.
func replace(f *field.Field, sent, old any, keepSecrets bool) any {
	switch x := sent.(type) {
	case map[string]any:
		o, _ := old.(map[string]any)
		return replaceObject(f, x, o, keepSecrets)
	case []any:
		o, _ := old.([]any)
		out := make([]any, len(x))
		for i := range x {
			out[i] = replace(elem(f), x[i], counterpart(f, x[i], o), keepSecrets)
		}
		return out
	}
	return sent
}

func replaceObject(f *field.Field, sent, old map[string]any, keepSecrets bool) map[string]any {
	out := make(map[string]any, len(sent))
	for k, v := range sent {
		c := childOf(f, sent, k)
		if c != nil && c.Behaviours.Has(field.ReadOnly) {
			continue
		}
		out[k] = replace(c, v, old[k], keepSecrets)
	}
	if f == nil || f.Type == nil {
		return out
	}
	for n, c := range f.For(sent).Fields {
		if _, ok := out[n]; ok {
			continue
		}
		kept, had := old[n]
		b := c.Behaviours
		switch {
		case had && (b.Has(field.ReadOnly) || b.Has(field.CreateOnly) || keepSecrets && hidden(c)):
			out[n] = field.Clone(kept)
		case c.Default != nil && !b.Has(field.ReadOnly):
			out[n] = field.Clone(c.Default)
		}
	}
	return out
}

func hidden(f *field.Field) bool {
	return f.Behaviours.Has(field.Secret) || f.Behaviours.Has(field.WriteOnly)
}

// counterpart is the item of a keyed list that has the keys of item.
func counterpart(f *field.Field, item any, items []any) any {
	if f == nil || f.Type == nil {
		return nil
	}
	keys, ok := f.ItemKeys(item)
	if !ok {
		return nil
	}
	v, _ := field.Lookup(items, field.Path{}.Item(keys...))
	return v
}

// frozen lists the paths of create-only fields whose value in next is not the
// one in old.
func frozen(f *field.Field, p field.Path, old, next any) []field.Path {
	switch x := next.(type) {
	case map[string]any:
		if o, ok := old.(map[string]any); ok && f != nil && f.Type != nil {
			return frozenObject(f, p, o, x)
		}
	case []any:
		var found []field.Path
		o, _ := old.([]any)
		for i := range x {
			if before := counterpart(f, x[i], o); before != nil {
				keys, _ := f.ItemKeys(x[i])
				found = append(found, frozen(f.Elem, p.Item(keys...), before, x[i])...)
			}
		}
		return found
	}
	return nil
}

func frozenObject(f *field.Field, p field.Path, old, next map[string]any) []field.Path {
	var found []field.Path
	for k, v := range next {
		c := f.Child(next, k)
		if c == nil || c.Behaviours.Has(field.ReadOnly) {
			continue
		}
		before, had := old[k]
		switch {
		case !c.Behaviours.Has(field.CreateOnly):
			found = append(found, frozen(c, p.Name(k), before, v)...)
		case !had && !idle(c, v), had && !field.Equal(c, before, v):
			found = append(found, p.Name(k))
		}
	}
	return found
}

// idle reports whether v says no more than leaving it out.
func idle(f *field.Field, v any) bool {
	return v == false || field.Empty(v) || f.Default != nil && field.Equal(f, f.Default, v)
}

// visible copies what a GET shows: no secrets, nothing write-only.
func visible(f *field.Field, v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			if c := childOf(f, x, k); c == nil || !hidden(c) {
				out[k] = visible(c, e)
			}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = visible(elem(f), x[i])
		}
		return out
	}
	return v
}

// setState writes a provisioning state wherever the tree has one that the
// service sets: in the resource and in the sub-resources that it holds.
func setState(f *field.Field, v any, state string) {
	if f == nil || f.Type == nil || f.Embedded {
		return
	}
	switch x := v.(type) {
	case map[string]any:
		if c := f.For(x).Fields[stateField]; c != nil && c.Behaviours.Has(field.ReadOnly) {
			x[stateField] = spelled(c.Type, state)
		}
		for k, e := range x {
			if c := f.Child(x, k); c != nil && !c.Behaviours.Has(field.ReadOnly) {
				setState(c, e, state)
			}
		}
	case []any:
		for _, e := range x {
			setState(f.Elem, e, state)
		}
	}
}

// spelled picks the state that the type's enum knows: one that knows only
// Creating says so of an update too.
func spelled(t *field.Type, want string) string {
	if len(t.Enum) == 0 || slices.Contains(t.Enum, any(want)) {
		return want
	}
	for _, s := range []string{"Updating", "Creating", "Accepted"} {
		if slices.Contains(t.Enum, any(s)) {
			return s
		}
	}
	return want
}

// invent gives a body what services set by themselves where the shape alone
// says what it is: unique IDs, times of creation, the principal of an
// identity. What is there already stays.
func invent(f *field.Field, body map[string]any, now time.Time) {
	if f == nil || f.Type == nil || f.Embedded {
		return
	}
	for n, c := range f.For(body).Fields {
		if m, ok := body[n].(map[string]any); ok && !c.Behaviours.Has(field.ReadOnly) {
			invent(c, m, now)
		}
		if body[n] != nil || c.Kind != field.String || !c.Behaviours.Has(field.ReadOnly) {
			continue
		}
		name := strings.ToLower(n)
		switch {
		case c.Format == "date-time" && strings.Contains(name, "creat"):
			body[n] = stamp(now)
		case name == "resourceguid" || name == "uniqueid":
			body[n] = newUUID()
		case name == "principalid" || name == "tenantid":
			if kind, _ := field.Leaf(body, "type"); strings.Contains(strings.ToLower(kind), "systemassigned") {
				body[n] = newUUID()
			}
		}
	}
}

package plan

import (
	"strings"

	"github.com/armature-dev/armature/pkg/field"
)

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func asList(v any) []any {
	l, _ := v.([]any)
	return l
}

func get(m map[string]any, name string) any {
	if k, ok := field.FoldedKey(m, name); ok {
		return m[k]
	}
	return nil
}

func fold(keys []field.KeyValue) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k.Key + "=" + strings.ToLower(k.Value) + "\x00")
	}
	return b.String()
}

// hidden reports whether v is a secret or the digest of one.
func hidden(v any) bool {
	switch x := v.(type) {
	case field.Hidden:
		return true
	case map[string]any:
		_, ok := x[field.DigestKey].(string)
		return ok && len(x) == 1
	}
	return false
}

// holdsUnseen reports whether a value has parts that ARM never shows.
func holdsUnseen(s scope, v any) bool {
	found := false
	walk(s, v, func(c scope, e any) bool {
		found = found || hidden(e) || c.has(field.WriteOnly)
		return !found
	})
	return found
}

// withoutUnseen copies v without what ARM never shows.
func withoutUnseen(s scope, v any) any {
	switch x := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(x))
		for k, e := range x {
			cs := s.child(x, k)
			if !hidden(e) && !cs.has(field.WriteOnly) {
				c[k] = withoutUnseen(cs, e)
			}
		}
		return c
	case []any:
		c := make([]any, 0, len(x))
		for _, e := range x {
			c = append(c, withoutUnseen(s.item(), e))
		}
		return c
	}
	return v
}

func (s scope) item() scope {
	return s.below(s.f.Item())
}

// walk visits v and its parts until visit says false.
func walk(s scope, v any, visit func(scope, any) bool) bool {
	if !visit(s, v) {
		return false
	}
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if !walk(s.child(x, k), e, visit) {
				return false
			}
		}
	case []any:
		for _, e := range x {
			if !walk(s.item(), e, visit) {
				return false
			}
		}
	}
	return true
}

// fieldAt follows a path through a tree; nil where it leads nowhere.
func fieldAt(f *field.Field, p field.Path) *field.Field {
	for _, s := range p {
		switch {
		case f == nil || f.Type == nil:
			return nil
		case len(s.Keys) > 0 || s.Index >= 0:
			f = f.Elem
		default:
			f = f.Child(nil, s.Name)
		}
	}
	return f
}

package plan

import "github.com/armature-dev/armature/pkg/field"

// apply makes one change in a body, which is altered.
func apply(body map[string]any, c Change) {
	if c.New == nil {
		remove(body, c.Path)
		return
	}
	put(body, c.Path, field.Clone(c.New))
}

// put sets the value at a path, making the objects and items on the way.
func put(v any, p field.Path, value any) any {
	if len(p) == 0 {
		return value
	}
	s := p[0]
	if len(s.Keys) == 0 && s.Index < 0 {
		m := asMap(v)
		if m == nil {
			m = map[string]any{}
		}
		k, _ := field.FoldedKey(m, s.Name)
		m[k] = put(m[k], p[1:], value)
		return m
	}
	list := asList(v)
	i := find(list, s)
	if i < 0 {
		list = append(list, newItem(s))
		i = len(list) - 1
	}
	list[i] = put(list[i], p[1:], value)
	return list
}

func newItem(s field.Step) any {
	item := map[string]any{}
	for _, k := range s.Keys {
		var p field.Path
		for _, name := range splitDots(k.Key) {
			p = p.Name(name)
		}
		put(item, p, k.Value)
	}
	return item
}

// remove deletes what is at a path; nothing where it leads nowhere.
func remove(v any, p field.Path) any {
	if len(p) == 0 {
		return v
	}
	s := p[0]
	switch x := v.(type) {
	case map[string]any:
		k, ok := field.FoldedKey(x, s.Name)
		if !ok {
			return v
		}
		if len(p) == 1 {
			delete(x, k)
			return x
		}
		x[k] = remove(x[k], p[1:])
		return x
	case []any:
		i := find(x, s)
		if i < 0 {
			return v
		}
		if len(p) == 1 {
			return append(x[:i:i], x[i+1:]...)
		}
		x[i] = remove(x[i], p[1:])
	}
	return v
}

func find(list []any, s field.Step) int {
	if len(s.Keys) == 0 {
		if s.Index < len(list) {
			return s.Index
		}
		return -1
	}
	for i := range list {
		if _, ok := field.Lookup([]any{list[i]}, field.Path{s}); ok {
			return i
		}
	}
	return -1
}

func splitDots(s string) []string {
	var parts []string
	start := 0
	for i := range len(s) {
		if s[i] == '.' {
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

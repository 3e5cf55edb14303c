package field

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Path leads from a body's root to a value in it. Written:
// properties.subnets[name=a].properties, tags['a.b'], zones[0].
type Path []Step

// Step is one part of a Path: a property or map key (Name), an item of a
// keyed list (Keys), or an item of any other list (Index).
type Step struct {
	Name  string
	Keys  []KeyValue
	Index int
}

// KeyValue is one key leaf of an item and its value as text.
type KeyValue struct{ Key, Value string }

// Name returns the path of a property or map key below p; p is not changed.
func (p Path) Name(name string) Path { return p.with(Step{Name: name, Index: -1}) }

// Item returns the path of a keyed item below p.
func (p Path) Item(keys ...KeyValue) Path { return p.with(Step{Keys: keys, Index: -1}) }

// At returns the path of the i-th item below p.
func (p Path) At(i int) Path { return p.with(Step{Index: i}) }

func (p Path) with(s Step) Path {
	q := make(Path, len(p), len(p)+1)
	copy(q, p)
	return append(q, s)
}

// String writes the path as ParsePath reads it.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		s.write(&b, i == 0)
	}
	return b.String()
}

func (s Step) write(b *strings.Builder, first bool) {
	switch {
	case len(s.Keys) > 0:
		b.WriteByte('[')
		for i, k := range s.Keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(k.Key)
			b.WriteByte('=')
			if plain(k.Value) {
				b.WriteString(k.Value)
			} else {
				quote(b, k.Value)
			}
		}
		b.WriteByte(']')
	case s.Index >= 0:
		fmt.Fprintf(b, "[%d]", s.Index)
	case plain(s.Name):
		if !first {
			b.WriteByte('.')
		}
		b.WriteString(s.Name)
	default:
		b.WriteByte('[')
		quote(b, s.Name)
		b.WriteByte(']')
	}
}

func quote(b *strings.Builder, s string) {
	b.WriteByte('\'')
	b.WriteString(strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s))
	b.WriteByte('\'')
}

func plain(s string) bool { return s != "" && !strings.ContainsAny(s, ".[]'\\=,") }

var errPath = errors.New("expected a path like properties.subnets[name=a].id or tags['a.b']")

// ParsePath reads what String writes.
func ParsePath(s string) (Path, error) {
	var p Path
	r := pathReader{s: s}
	for r.i < len(r.s) {
		step, err := r.step(len(p) == 0)
		if err != nil {
			return nil, fmt.Errorf("reading path %q at %d: %w", s, r.i, err)
		}
		p = append(p, step)
	}
	return p, nil
}

type pathReader struct {
	s string
	i int
}

func (r *pathReader) step(first bool) (Step, error) {
	if r.s[r.i] == '[' {
		r.i++
		return r.bracket()
	}
	if !first {
		if r.s[r.i] != '.' {
			return Step{}, errPath
		}
		r.i++
	}
	name := r.word(".[")
	if !plain(name) {
		return Step{}, errPath
	}
	return Step{Name: name, Index: -1}, nil
}

func (r *pathReader) bracket() (Step, error) {
	if r.peek() == '\'' {
		name, err := r.quoted()
		if err != nil || r.peek() != ']' {
			return Step{}, errPath
		}
		r.i++
		return Step{Name: name, Index: -1}, nil
	}
	word := r.word("=]")
	if r.peek() == ']' {
		r.i++
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return Step{}, errPath
		}
		return Step{Index: n}, nil
	}
	return r.keys(word)
}

func (r *pathReader) keys(key string) (Step, error) {
	s := Step{Index: -1}
	for {
		if r.peek() != '=' || key == "" {
			return Step{}, errPath
		}
		r.i++
		value, err := r.value()
		if err != nil {
			return Step{}, err
		}
		s.Keys = append(s.Keys, KeyValue{Key: key, Value: value})
		switch r.peek() {
		case ']':
			r.i++
			return s, nil
		case ',':
			r.i++
			key = r.word("=]")
		default:
			return Step{}, errPath
		}
	}
}

func (r *pathReader) value() (string, error) {
	if r.peek() == '\'' {
		return r.quoted()
	}
	v := r.word(",]")
	if !plain(v) {
		return "", errPath
	}
	return v, nil
}

func (r *pathReader) quoted() (string, error) {
	var b strings.Builder
	for r.i++; r.i < len(r.s); r.i++ {
		switch c := r.s[r.i]; c {
		case '\'':
			r.i++
			return b.String(), nil
		case '\\':
			r.i++
			if r.i >= len(r.s) {
				return "", errPath
			}
			b.WriteByte(r.s[r.i])
		default:
			b.WriteByte(c)
		}
	}
	return "", errPath
}

func (r *pathReader) word(stop string) string {
	start := r.i
	for r.i < len(r.s) && !strings.ContainsRune(stop, rune(r.s[r.i])) {
		r.i++
	}
	return r.s[start:r.i]
}

func (r *pathReader) peek() byte {
	if r.i < len(r.s) {
		return r.s[r.i]
	}
	return 0
}

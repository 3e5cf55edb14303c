package field

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
)

// Decode reads one JSON document into maps, slices, strings, booleans, nil
// and json.Number (so that no integer loses digits). Anything behind the
// document is an error.
func Decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading JSON: expected one document, found more behind it")
	}
	return v, nil
}

// DecodeObject is Decode for a document that must be an object; empty input
// and null give nil.
func DecodeObject(b []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, nil
	}
	v, err := Decode(b)
	if err != nil {
		return nil, err
	}
	switch m := v.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return m, nil
	}
	return nil, fmt.Errorf("reading JSON: expected an object, found %s", KindOf(v))
}

// KindOf names the JSON kind of a value as Decode gives it; null is Any.
func KindOf(v any) Kind {
	switch n := v.(type) {
	case map[string]any:
		return Object
	case []any:
		return List
	case string, Hidden:
		return String
	case bool:
		return Boolean
	case json.Number:
		if isInteger(n.String()) {
			return Integer
		}
		return Number
	case float64:
		if n == float64(int64(n)) {
			return Integer
		}
		return Number
	case int, int32, int64:
		return Integer
	}
	return Any
}

func isInteger(s string) bool {
	if !strings.ContainsAny(s, ".eE") {
		return true
	}
	r, ok := rational(s)
	return ok && r.IsInt()
}

// rational reads a JSON number; it declines exponents that would need
// unreasonable memory.
func rational(s string) (*big.Rat, bool) {
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 4 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// Clone copies maps and slices; scalars and Hidden values are immutable.
func Clone(v any) any {
	switch x := v.(type) {
	case map[string]any:
		return CloneObject(x)
	case []any:
		c := make([]any, len(x))
		for i := range x {
			c[i] = Clone(x[i])
		}
		return c
	}
	return v
}

// CloneObject is Clone for an object; nil stays nil.
func CloneObject(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	c := make(map[string]any, len(m))
	for k, v := range m {
		c[k] = Clone(v)
	}
	return c
}

// Lookup returns the value at path, matching property names without case
// where the exact spelling is missing, as ARM does.
func Lookup(v any, p Path) (any, bool) {
	for _, s := range p {
		switch x := v.(type) {
		case map[string]any:
			name, ok := FoldedKey(x, s.Name)
			if !ok {
				return nil, false
			}
			v = x[name]
		case []any:
			i := s.find(x)
			if i < 0 {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// FoldedKey finds name in m, exactly or without case.
func FoldedKey(m map[string]any, name string) (string, bool) {
	if _, ok := m[name]; ok {
		return name, true
	}
	for k := range m {
		if strings.EqualFold(k, name) {
			return k, true
		}
	}
	return name, false
}

func (s Step) find(items []any) int {
	if len(s.Keys) == 0 {
		if s.Index >= 0 && s.Index < len(items) {
			return s.Index
		}
		return -1
	}
	for i, item := range items {
		match := true
		for _, k := range s.Keys {
			v, ok := Leaf(item, k.Key)
			match = match && ok && strings.EqualFold(v, k.Value)
		}
		if match {
			return i
		}
	}
	return -1
}

// Leaf returns the scalar at a dotted path of property names as text.
func Leaf(v any, dotted string) (string, bool) {
	for name := range strings.SplitSeq(dotted, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return "", false
		}
		k, ok := FoldedKey(m, name)
		if !ok {
			return "", false
		}
		v = m[k]
	}
	switch v.(type) {
	case nil, map[string]any, []any:
		return "", false
	}
	return fmt.Sprint(v), true
}

// ItemKeys returns the key leaves of a list item; false where one is missing.
func (t *Type) ItemKeys(item any) ([]KeyValue, bool) {
	if len(t.Keys) == 0 {
		return nil, false
	}
	keys := make([]KeyValue, 0, len(t.Keys))
	for _, k := range t.Keys {
		v, ok := Leaf(item, k)
		if !ok {
			return nil, false
		}
		keys = append(keys, KeyValue{Key: k, Value: v})
	}
	return keys, true
}

// Hidden is a secret value on its way into a request. It shows only its
// digest wherever it is printed, logged or marshalled; Reveal alone gives the
// value away. Two of them are the same if their digests are.
type Hidden struct {
	// value is a pointer because fmt prints the parts of what lies in an
	// unexported field, whatever its methods say: of a pointer, the address.
	value  *string
	digest string
}

// NewHidden holds a secret value and the digest that stands for it.
func NewHidden(value, digest string) Hidden { return Hidden{value: &value, digest: digest} }

// Equal compares digests.
func (h Hidden) Equal(other Hidden) bool { return h.digest == other.digest }

// DigestKey is the property under which a Hidden value is marshalled.
const DigestKey = "$digest"

// Digest is what may be stored in place of the value.
func (h Hidden) Digest() string { return h.digest }

// String never shows the value.
func (h Hidden) String() string { return "<hidden>" }

// GoString never shows the value.
func (h Hidden) GoString() string { return h.String() }

// MarshalJSON writes {"$digest": …}, never the value.
func (h Hidden) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{DigestKey: h.digest})
}

// Reveal copies v with hidden values in the clear: for request bodies only.
func Reveal(v any) any {
	switch x := v.(type) {
	case Hidden:
		if x.value == nil {
			return ""
		}
		return *x.value
	case map[string]any:
		c := make(map[string]any, len(x))
		for k, e := range x {
			c[k] = Reveal(e)
		}
		return c
	case []any:
		c := make([]any, len(x))
		for i := range x {
			c[i] = Reveal(x[i])
		}
		return c
	}
	return v
}

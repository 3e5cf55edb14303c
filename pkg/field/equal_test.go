package field

import (
	"testing"
)

func scalarField(k Kind, q Equality) *Field { return &Field{Type: &Type{Kind: k}, Equality: q} }

func listOf(elem *Field, q Equality, keys ...string) *Field {
	return &Field{Type: &Type{Kind: List, Elem: elem, Keys: keys}, Equality: q}
}

func mustDecode(t *testing.T, s string) any {
	t.Helper()
	v, err := Decode([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

// TestEqual holds pairs of values as sent and as come back. Covers is at least
// as forgiving as Equal.
func TestEqual(t *testing.T) {
	t.Parallel()
	exact, fold := scalarField(String, Exact), scalarField(String, FoldCase)
	id, place := scalarField(String, ResourceID), scalarField(String, Location)
	number := scalarField(Number, Exact)
	item := &Field{Type: &Type{Kind: Object, Fields: map[string]*Field{"name": fold, "id": id, "v": exact}}}
	for name, tc := range map[string]struct {
		field         *Field
		want, have    string
		equal, covers bool
	}{
		"same string":                    {exact, `"a"`, `"a"`, true, true},
		"other case":                     {exact, `"a"`, `"A"`, false, false},
		"no field":                       {nil, `"a"`, `"A"`, false, false},
		"folded case":                    {fold, `"a"`, `"A"`, true, true},
		"folded, other letters":          {fold, `"a"`, `"b"`, false, false},
		"an ID in another case":          {id, `"/subscriptions/S/x"`, `"/SUBSCRIPTIONS/s/X/"`, true, true},
		"another ID":                     {id, `"/subscriptions/S"`, `"/subscriptions/T"`, false, false},
		"a location":                     {place, `"West US 2"`, `"westus2"`, true, true},
		"another location":               {place, `"westus"`, `"westus2"`, false, false},
		"an integer as a fraction":       {number, `6`, `6.0`, true, true},
		"an exponent":                    {number, `1e3`, `1000`, true, true},
		"large integers keep digits":     {number, `9007199254740993`, `9007199254740992`, false, false},
		"an exponent beyond reason":      {number, `1e99999`, `1e99998`, false, false},
		"a number is no string":          {exact, `"6"`, `6`, false, false},
		"a bool is no string":            {exact, `true`, `"true"`, false, false},
		"bools":                          {nil, `true`, `true`, true, true},
		"null":                           {nil, `null`, `null`, true, true},
		"null against a value":           {nil, `null`, `1`, false, false},
		"a value against null":           {nil, `1`, `null`, false, false},
		"null dropped":                   {nil, `{"a":null}`, `{}`, false, true},
		"empty list dropped":             {nil, `{"a":[]}`, `{}`, false, true},
		"object of empties dropped":      {nil, `{"a":{"b":[],"c":{}}}`, `{}`, false, true},
		"empty list as null":             {nil, `{"a":[]}`, `{"a":null}`, false, true},
		"false is not empty":             {nil, `{"a":false}`, `{}`, false, false},
		"zero is not empty":              {nil, `{"a":0}`, `{}`, false, false},
		"an empty string is not empty":   {nil, `{"a":""}`, `{}`, false, false},
		"leaves added":                   {nil, `{"a":1}`, `{"a":1,"b":2}`, false, true},
		"keys in another case":           {nil, `{"Aa":1}`, `{"aA":1}`, true, true},
		"leaves added in items":          {nil, `[{"a":1}]`, `[{"a":1,"b":2}]`, false, true},
		"items added":                    {nil, `[1]`, `[1,2]`, false, false},
		"items swapped":                  {listOf(exact, Exact), `["a","b"]`, `["b","a"]`, false, false},
		"items swapped, no order":        {listOf(exact, Unordered), `["a","b"]`, `["b","a"]`, true, true},
		"items twice, no order":          {listOf(exact, Unordered), `["a","a"]`, `["a","b"]`, false, false},
		"keyed items swapped":            {listOf(item, Exact, "name"), `[{"name":"a","v":"1"},{"name":"b","v":"2"}]`, `[{"name":"B","v":"2"},{"name":"A","v":"1"}]`, true, true},
		"keyed items differ":             {listOf(item, Exact, "name"), `[{"name":"a","v":"1"}]`, `[{"name":"a","v":"2"}]`, false, false},
		"each item finds its own":        {listOf(item, Unordered), `[{"v":"1"},{"v":"1","name":"x"}]`, `[{"v":"1","name":"x"},{"v":"1","name":"y"}]`, false, true},
		"equality of nested fields":      {item, `{"id":"/A"}`, `{"id":"/a"}`, true, true},
		"object against list":            {nil, `{}`, `[1]`, false, false},
		"list against object":            {nil, `[1]`, `{"a":1}`, false, false},
		"a digest":                       {nil, `{"$digest":"d"}`, `{"$digest":"d"}`, true, true},
		"another digest":                 {nil, `{"$digest":"d"}`, `{"$digest":"e"}`, false, false},
		"a digest against what it hides": {nil, `{"$digest":"d"}`, `"secret"`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, have := mustDecode(t, tc.want), mustDecode(t, tc.have)
			if got := Equal(tc.field, want, have); got != tc.equal {
				t.Errorf("Equal is %v, want %v", got, tc.equal)
			}
			if got := Covers(tc.field, want, have); got != tc.covers {
				t.Errorf("Covers is %v, want %v", got, tc.covers)
			}
		})
	}
}

func TestEqualHidden(t *testing.T) {
	t.Parallel()
	h := NewHidden("secret", "d1")
	for name, tc := range map[string]struct {
		a, b any
		want bool
	}{
		"same":               {h, NewHidden("other", "d1"), true},
		"another":            {h, NewHidden("secret", "d2"), false},
		"its digest":         {h, map[string]any{DigestKey: "d1"}, true},
		"its value":          {h, "secret", false},
		"a value":            {"secret", h, false},
		"no digest, a value": {NewHidden("x", ""), "y", false},
		"nothing":            {h, nil, false},
	} {
		if got := Equal(nil, tc.a, tc.b); got != tc.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if !Equal(nil, map[string]any{DigestKey: "d1"}, h) {
		t.Error("a digest does not equal its secret")
	}
}

func FuzzEqual(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}],"B":"x"}`, `[]`, `1e3`, `"x"`, `null`, `[[1],[1,2]]`} {
		f.Add(s)
	}
	tree := listOf(nil, Unordered)
	f.Fuzz(func(t *testing.T, s string) {
		v, err := Decode([]byte(s))
		if err != nil {
			return
		}
		c := Clone(v)
		for _, field := range []*Field{nil, tree} {
			if !Equal(field, v, c) || !Covers(field, v, c) {
				t.Errorf("%s is not itself", s)
			}
		}
	})
}

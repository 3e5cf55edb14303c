package field

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree has everything that a Table must keep: sharing, recursion, variants.
func tree() *Field {
	maxLength, lo := int64(8), 1.5
	text := &Type{Kind: String}
	node := &Type{Name: "Node", Kind: Object, Fields: map[string]*Field{}}
	node.Fields["name"] = &Field{Type: text, Behaviours: Required | CreateOnly, Evidence: []Evidence{{Fact: "required", Source: "marker", Detail: "required"}}}
	node.Fields["children"] = &Field{Type: &Type{Kind: List, Elem: &Field{Type: node}, Keys: []string{"name"}}, Children: "A.B/c/d"}
	cat := &Type{Name: "Cat", Kind: Object, Fields: map[string]*Field{"kind": {Type: text}, "lives": {Type: &Type{Kind: Integer, Format: "int32", Limits: Limits{Minimum: &lo}}, Default: json.Number("9"), Reset: json.Number("1")}}}
	pet := &Type{
		Name: "Pet", Kind: Object, Discriminator: "kind", Variants: map[string]*Type{"Cat": cat},
		Fields: map[string]*Field{"kind": {Type: &Type{Kind: String, Enum: []any{"Cat"}, Closed: true}}},
	}
	return &Field{Type: &Type{Kind: Object, Fields: map[string]*Field{
		"root":     {Type: node, Behaviours: ReadOnly},
		"again":    {Type: node, Behaviours: Elastic},
		"pet":      {Type: pet},
		"pet2":     {Type: pet, Behaviours: Nullable},
		"password": {Type: &Type{Kind: String, Limits: Limits{Pattern: "^x", MaxLength: &maxLength}}, Behaviours: Secret | WriteOnly},
		"tags":     {Type: &Type{Kind: Map, Elem: &Field{Type: text}}},
		"vnet":     {Type: &Type{Kind: Object, Embedded: true, Fields: map[string]*Field{"id": {Type: text, Equality: ResourceID}}}},
	}}}
}

func encodeTable(t *testing.T, table *Table) []byte {
	t.Helper()
	b, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTableRoundTrip(t *testing.T) {
	t.Parallel()
	first := encodeTable(t, NewTable(map[string]*Field{"body": tree(), "patch": tree(), "none": nil}))
	var read Table
	if err := json.Unmarshal(first, &read); err != nil {
		t.Fatal(err)
	}
	roots, err := read.Link()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(2, len(roots)); d != "" {
		t.Error(d)
	}
	second := encodeTable(t, NewTable(roots))
	if d := cmp.Diff(string(first), string(second)); d != "" {
		t.Error(d)
	}
	body := roots["body"]
	if body.At("root").Type != body.At("again").Type {
		t.Error("a shared type is not shared any more")
	}
	if body.At("root.children[].children[].children[].name") == nil || body.At("root").Type != body.At("root.children[]").Type {
		t.Error("recursion is lost")
	}
	got := map[string]any{
		"behaviours": body.At("password").Behaviours.String(), "keys": body.At("root.children").Keys,
		"children": body.At("root.children").Children, "equality": body.At("vnet.id").Equality, "embedded": body.At("vnet").Embedded,
		"variant": body.At("pet").For(map[string]any{"kind": "cAT"}).Name, "default": body.At("pet").Variants["Cat"].Fields["lives"].Default,
		"evidence": body.At("root.name").Evidence, "pattern": body.At("password").Pattern,
	}
	want := map[string]any{
		"behaviours": "writeOnly,secret", "keys": []string{"name"}, "children": "A.B/c/d", "equality": ResourceID, "embedded": true,
		"variant": "Cat", "default": float64(9), "evidence": []Evidence{{Fact: "required", Source: "marker", Detail: "required"}}, "pattern": "^x",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTableIsDeterministic(t *testing.T) {
	t.Parallel()
	want := string(encodeTable(t, NewTable(map[string]*Field{"a": tree(), "b": tree()})))
	for range 20 {
		if got := string(encodeTable(t, NewTable(map[string]*Field{"b": tree(), "a": tree()}))); got != want {
			t.Fatal(cmp.Diff(want, got))
		}
	}
}

func TestLinkRefuses(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"a root of no type":    `{"types":[],"roots":{"a":{"t":0}}}`,
		"a negative type":      `{"types":[{"kind":"string"}],"roots":{"a":{"t":-1}}}`,
		"a field of no type":   `{"types":[{"kind":"object","fields":{"x":{"t":9}}}],"roots":{}}`,
		"an item of no type":   `{"types":[{"kind":"list","elem":{"t":9}}],"roots":{}}`,
		"a variant of no type": `{"types":[{"kind":"object","variants":{"x":9}}],"roots":{}}`,
		"an unknown behaviour": `{"types":[{"kind":"string"}],"roots":{"a":{"t":0,"b":"required,sticky"}}}`,
	} {
		var table Table
		if err := json.Unmarshal([]byte(s), &table); err != nil {
			t.Fatal(err)
		}
		if _, err := table.Link(); err == nil {
			t.Errorf("%s was linked", name)
		}
	}
}

func TestBehaviours(t *testing.T) {
	t.Parallel()
	for b := range Elastic << 1 {
		got, unknown := ParseBehaviours(b.String())
		if got != b || len(unknown) != 0 {
			t.Fatalf("%d was written as %q and read as %d, %q", b, b, got, unknown)
		}
	}
	if _, unknown := ParseBehaviours("required,sticky"); !cmp.Equal(unknown, []string{"sticky"}) {
		t.Errorf("got %q", unknown)
	}
}

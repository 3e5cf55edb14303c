package field

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	v := mustDecode(t, ` {"n":12345678901234567890,"l":[true,null]} `)
	want := map[string]any{"n": json.Number("12345678901234567890"), "l": []any{true, nil}}
	if d := cmp.Diff(any(want), v); d != "" {
		t.Error(d)
	}
	for _, s := range []string{"", "{", `{} {}`, `{}x`, "nope"} {
		if _, err := Decode([]byte(s)); err == nil {
			t.Errorf("%q was read", s)
		}
	}
	for _, s := range []string{"[]", `"a"`, "1"} {
		if _, err := DecodeObject([]byte(s)); err == nil {
			t.Errorf("%q was read as an object", s)
		}
	}
	for _, s := range []string{"", " \n", "null"} {
		if m, err := DecodeObject([]byte(s)); m != nil || err != nil {
			t.Errorf("%q gives %v, %v", s, m, err)
		}
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Kind{
		`{}`: Object, `[]`: List, `""`: String, `true`: Boolean, `1`: Integer, `1.0`: Integer, `1e2`: Integer,
		`1.5`: Number, `1e99999`: Number, `null`: Any,
	} {
		if got := KindOf(mustDecode(t, text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	v := mustDecode(t, `{"Properties":{"subnets":[{"name":"A","v":1},{"name":"b","n":{"x":2}}]},"tags":{"a.b":"c"}}`)
	for text, want := range map[string]any{
		"properties.subnets[name=a].v": json.Number("1"), "properties.subnets[1].n.x": json.Number("2"), "tags['a.b']": "c",
		"properties.subnets[name=c].v": nil, "properties.subnets[7]": nil, "tags.a.b": nil, "properties.subnets.name": nil,
	} {
		p, err := ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := Lookup(v, p)
		if ok != (want != nil) || !cmp.Equal(got, want) {
			t.Errorf("%s: got %v, %v", text, got, ok)
		}
	}
}

func TestCloneIsDeep(t *testing.T) {
	t.Parallel()
	v, ok := mustDecode(t, `{"a":[{"b":1}]}`).(map[string]any)
	if !ok {
		t.Fatal("no object")
	}
	before, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	c := CloneObject(v)
	list, _ := c["a"].([]any)
	inner, _ := list[0].(map[string]any)
	inner["b"], list[0] = "changed", "changed"
	if after, err := json.Marshal(v); err != nil || string(after) != string(before) {
		t.Errorf("the original became %s", after)
	}
	if CloneObject(nil) != nil {
		t.Error("nil became something")
	}
}

const secret = "hunter2-s3cret"

// TestHiddenNeverLeaks prints a hidden value in every way that a log line, an
// error or an encoder may.
func TestHiddenNeverLeaks(t *testing.T) {
	t.Parallel()
	h := NewHidden(secret, "d1")
	type wrapper struct {
		Open   any
		closed Hidden
		deep   map[string]any
	}
	values := []any{
		h, &h,
		[]any{h},
		map[string]any{"password": h},
		[]Hidden{h},
		wrapper{Open: h, closed: h, deep: map[string]any{"x": []any{h}}},
		&wrapper{closed: h, deep: map[string]any{"x": h}},
	}
	var out strings.Builder
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t", "%T"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		fmt.Fprintln(&out, fmt.Errorf("sending %v: %w", v, errors.New("x")))
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(b)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
	}
	for _, p := range Validate(&Field{Type: &Type{Kind: String, Closed: true, Enum: []any{"a"}, Limits: Limits{Pattern: "^x$"}}, Behaviours: Secret}, secret, Checks{}) {
		out.WriteString(p.Error())
	}
	for _, form := range []string{secret, fmt.Sprintf("%x", secret)} {
		if i := strings.Index(out.String(), form); i >= 0 {
			t.Errorf("leaked: …%s…", out.String()[max(0, i-80):i+len(form)])
		}
	}
	if _, leaked := Lookup(map[string]any{"a": h}, Path(nil).Name("a").Name("value")); leaked {
		t.Error("leaked through Lookup")
	}
}

func TestReveal(t *testing.T) {
	t.Parallel()
	h := NewHidden(secret, "d1")
	in := map[string]any{"a": []any{h, "x"}, "b": map[string]any{"c": h}, "z": Hidden{}}
	want := map[string]any{"a": []any{secret, "x"}, "b": map[string]any{"c": secret}, "z": ""}
	if d := cmp.Diff(any(want), Reveal(in)); d != "" {
		t.Error(d)
	}
	if b, err := json.Marshal(in["a"]); err != nil || string(b) != `[{"$digest":"d1"},"x"]` {
		t.Errorf("got %s, %v", b, err)
	}
	if h.Digest() != "d1" || !h.Equal(NewHidden("other", "d1")) {
		t.Error("the digest does not stand for the value")
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x",null,true]}`, `[]`, `1 2`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Decode(b)
		if err != nil {
			return
		}
		w, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(w)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(v, again); d != "" {
			t.Error(d)
		}
	})
}

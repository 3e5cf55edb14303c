package field

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Path{
		"":                 nil,
		"a":                Path(nil).Name("a"),
		"a.b":              Path(nil).Name("a").Name("b"),
		"tags['a.b']":      Path(nil).Name("tags").Name("a.b"),
		"tags['']":         Path(nil).Name("tags").Name(""),
		`tags['it\'s \\']`: Path(nil).Name("tags").Name(`it's \`),
		"['a.b'].c":        Path(nil).Name("a.b").Name("c"),
		"zones[0]":         Path(nil).Name("zones").At(0),
		"[3][4].a":         Path(nil).At(3).At(4).Name("a"),
		"s[name=a].id":     Path(nil).Name("s").Item(KeyValue{"name", "a"}).Name("id"),
		"s[name='a]b',properties.p='']": Path(nil).Name("s").
			Item(KeyValue{"name", "a]b"}, KeyValue{"properties.p", ""}),
	} {
		got, err := ParsePath(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", text, d)
		}
		if got.String() != text {
			t.Errorf("%q was written as %q", text, got)
		}
	}
}

func TestParsePathRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{".", "a.", ".a", "a..b", "a[", "a[]", "a[-1]", "a[x]", "a['b'", "a['b", `a['b\`, "a[0]b", "a[=b]", "a[k=]", "a[k=v", "a[k=v,]", "a=b", "a]"} {
		if p, err := ParsePath(s); err == nil {
			t.Errorf("%q was read as %v", s, p)
		}
	}
}

func TestPathsAreNotShared(t *testing.T) {
	t.Parallel()
	base := Path(nil).Name("a").Name("b").Name("c")
	left, right := base.Name("l"), base.Name("r")
	if left.String() != "a.b.c.l" || right.String() != "a.b.c.r" {
		t.Errorf("got %s and %s", left, right)
	}
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"a.b", "tags['a.b']", "s[name=a,x='y]'].z", `['\\\'']`, "a[0][1]", "é.ü"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			return
		}
		again, err := ParsePath(p.String())
		if err != nil {
			t.Fatalf("%q was written as %q: %v", s, p, err)
		}
		if d := cmp.Diff(p, again); d != "" {
			t.Errorf("%q: %s", s, d)
		}
	})
}

func FuzzPathString(f *testing.F) {
	f.Add("a.b", "x'y", `\`, 3)
	f.Fuzz(func(t *testing.T, name, key, value string, index int) {
		p := Path(nil).Name(name).At(max(index, 0)).Item(KeyValue{"name", key}, KeyValue{"properties.id", value}).Name(value)
		got, err := ParsePath(p.String())
		if err != nil {
			t.Fatalf("%q: %v", p, err)
		}
		if d := cmp.Diff(p, got); d != "" {
			t.Error(d)
		}
	})
}

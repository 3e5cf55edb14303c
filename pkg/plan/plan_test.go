package plan

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-dev/armature/pkg/field"
)

// The tree of a made-up resource that has one field of each sort.

func obj(fields map[string]*field.Field) *field.Field {
	return &field.Field{Type: &field.Type{Kind: field.Object, Fields: fields}}
}

func leafOf(k field.Kind, b field.Behaviours) *field.Field {
	return &field.Field{Type: &field.Type{Kind: k}, Behaviours: b}
}

func text() *field.Field { return leafOf(field.String, 0) }

func equal(f *field.Field, q field.Equality) *field.Field {
	f.Equality = q
	return f
}

func listOf(item *field.Field, keys ...string) *field.Field {
	return &field.Field{Type: &field.Type{Kind: field.List, Elem: item, Keys: keys}}
}

func tree() (body, patch *field.Field) {
	withDefault := text()
	withDefault.Default = "Standard"
	withReset := text()
	withReset.Reset = "Off"
	children := listOf(obj(map[string]*field.Field{"name": text(), "properties": obj(map[string]*field.Field{"prefix": text()})}), "name")
	children.Children = "Test/nets/subnets"
	embedded := obj(map[string]*field.Field{"id": equal(text(), field.ResourceID), "name": text()})
	embedded.Embedded = true
	tags := &field.Field{Type: &field.Type{Kind: field.Map, Elem: text()}}
	sku := obj(map[string]*field.Field{"name": text(), "capacity": leafOf(field.Integer, field.Elastic)})
	body = obj(map[string]*field.Field{
		"id":       leafOf(field.String, field.ReadOnly),
		"location": equal(leafOf(field.String, field.CreateOnly), field.Location),
		"tags":     tags,
		"sku":      sku,
		"properties": obj(map[string]*field.Field{
			"state": leafOf(field.String, field.ReadOnly), "mode": text(), "tier": withDefault, "feature": withReset, "note": leafOf(field.String, field.Nullable),
			"password": leafOf(field.String, field.WriteOnly|field.Secret), "subnets": children, "zones": listOf(text()), "nsg": embedded,
			"rules": listOf(obj(map[string]*field.Field{"name": text(), "port": leafOf(field.Integer, 0), "by": leafOf(field.String, field.ReadOnly)}), "name"),
		}),
	})
	patch = obj(map[string]*field.Field{"tags": tags, "sku": sku, "properties": obj(map[string]*field.Field{"mode": text(), "note": text(), "zones": listOf(text())})})
	return body, patch
}

func parse(t *testing.T, s string) map[string]any {
	t.Helper()
	m, err := field.DecodeObject([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type outcome struct {
	Action   Action
	Changes  []string
	Drift    []string
	Released []string
	Refused  []string
}

func summarise(p Plan) outcome {
	o := outcome{Action: p.Action}
	for _, c := range p.Changes {
		o.Changes = append(o.Changes, c.Path.String()+" "+string(c.Cause))
	}
	for _, d := range p.Drift {
		word := " corrected"
		if d.Left {
			word = " left"
		}
		o.Drift = append(o.Drift, d.Path.String()+word)
	}
	for _, r := range p.Released {
		o.Released = append(o.Released, r.String())
	}
	for _, r := range p.Refused {
		o.Refused = append(o.Refused, r.Path.String()+" "+string(r.Reason))
	}
	return o
}

// TestNew is the table of the design, row by row.
func TestNew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want, applied, pending, have string
		policy                       Policy
		settled                      []Settled
		expect                       outcome
	}{
		"nothing there":                 {want: `{"location":"x"}`, expect: outcome{Action: Create}},
		"set by PATCH":                  {want: `{"sku":{"capacity":5}}`, applied: `{"sku":{"capacity":3}}`, have: `{"sku":{"capacity":3}}`, expect: outcome{Action: Patch, Changes: []string{"sku.capacity spec"}}},
		"PATCH can't say it":            {want: `{"properties":{"tier":"Basic"}}`, have: `{"properties":{"tier":"Standard"}}`, expect: outcome{Action: Put, Changes: []string{"properties.tier spec"}}},
		"a type without PATCH":          {want: `{"sku":{"capacity":5}}`, have: `{}`, policy: Policy{NoPatch: true}, expect: outcome{Action: Put, Changes: []string{"sku.capacity spec"}}},
		"tags alone":                    {want: `{"tags":{"a":"1"}}`, have: `{"tags":{"b":"2"}}`, expect: outcome{Action: Tags, Changes: []string{"tags.a spec"}}},
		"equal by meaning":              {want: `{"location":"westus2","properties":{"nsg":{"id":"/S/A"}}}`, have: `{"location":"West US 2","properties":{"nsg":{"id":"/s/a","name":"a"}}}`, expect: outcome{Action: Nothing}},
		"drift":                         {want: `{"properties":{"mode":"a"}}`, applied: `{"properties":{"mode":"a"}}`, have: `{"properties":{"mode":"b"}}`, expect: outcome{Action: Patch, Changes: []string{"properties.mode drift"}, Drift: []string{"properties.mode corrected"}}},
		"drift reported":                {want: `{"properties":{"mode":"a"}}`, applied: `{"properties":{"mode":"a"}}`, have: `{"properties":{"mode":"b"}}`, policy: Policy{ReportDrift: true}, expect: outcome{Action: Nothing, Drift: []string{"properties.mode left"}}},
		"elastic drift is left":         {want: `{"sku":{"capacity":3}}`, applied: `{"sku":{"capacity":3}}`, have: `{"sku":{"capacity":9}}`, expect: outcome{Action: Nothing, Drift: []string{"sku.capacity left"}}},
		"sent, not confirmed: no drift": {want: `{"properties":{"mode":"a"}}`, pending: `{"properties":{"mode":"a"}}`, have: `{"properties":{"mode":"b"}}`, expect: outcome{Action: Patch, Changes: []string{"properties.mode spec"}}},
		"settled is quiet":              {want: `{"properties":{"mode":"utf8"}}`, applied: `{"properties":{"mode":"utf8"}}`, have: `{"properties":{"mode":"utf8mb3"}}`, settled: []Settled{{Path: "properties.mode", Sent: "utf8", Settled: "utf8mb3"}}, expect: outcome{Action: Nothing}},
		"never ours":                    {want: `{}`, have: `{"tags":{"policy":"x"},"properties":{"mode":"b","rules":[{"name":"r","port":1}]}}`, expect: outcome{Action: Nothing}},
		"a tag of ours removed":         {want: `{"tags":{}}`, applied: `{"tags":{"a":"1"}}`, have: `{"tags":{"a":"1","b":"2"}}`, expect: outcome{Action: Tags, Changes: []string{"tags.a removed"}}},
		"all tags of ours removed":      {want: `{}`, applied: `{"tags":{"a":"1"}}`, have: `{"tags":{"a":"1","b":"2"}}`, expect: outcome{Action: Tags, Changes: []string{"tags.a removed"}}},
		"removed, but others changed":   {want: `{}`, applied: `{"tags":{"a":"1"}}`, have: `{"tags":{"a":"7"}}`, expect: outcome{Action: Nothing, Released: []string{"tags.a"}}},
		"an item of ours removed":       {want: `{"properties":{"rules":[{"name":"b","port":2}]}}`, applied: `{"properties":{"rules":[{"name":"a","port":1},{"name":"b","port":2}]}}`, have: `{"properties":{"rules":[{"name":"b","port":2},{"name":"a","port":1},{"name":"c","port":3}]}}`, expect: outcome{Action: Put, Changes: []string{"properties.rules[name=a] removed"}}},
		"reset to the default":          {want: `{}`, applied: `{"properties":{"tier":"Basic"}}`, have: `{"properties":{"tier":"Basic"}}`, expect: outcome{Action: Put, Changes: []string{"properties.tier reset"}}},
		"reset by an overlay":           {want: `{"properties":{}}`, applied: `{"properties":{"feature":"On"}}`, have: `{"properties":{"feature":"On"}}`, expect: outcome{Action: Put, Changes: []string{"properties.feature reset"}}},
		"reset by null":                 {want: `{}`, applied: `{"properties":{"note":"x"}}`, have: `{"properties":{"note":"x"}}`, expect: outcome{Action: Patch, Changes: []string{"properties.note reset"}}},
		"released":                      {want: `{}`, applied: `{"properties":{"mode":"a"}}`, have: `{"properties":{"mode":"a"}}`, expect: outcome{Action: Nothing, Released: []string{"properties.mode"}}},
		"capacity handed over":          {want: `{"sku":{"name":"x"}}`, applied: `{"sku":{"name":"x","capacity":3}}`, have: `{"sku":{"name":"x","capacity":3}}`, expect: outcome{Action: Nothing, Released: []string{"sku.capacity"}}},
		"create-only changed":           {want: `{"location":"a"}`, applied: `{"location":"b"}`, have: `{"location":"b"}`, expect: outcome{Action: Refuse, Refused: []string{"location CreateOnly"}}},
		"read-only in the spec":         {want: `{"properties":{"state":"Failed"}}`, have: `{}`, expect: outcome{Action: Refuse, Refused: []string{"properties.state ReadOnly"}}},
		"unknown in the spec":           {want: `{"properties":{"mod":"a"}}`, have: `{}`, expect: outcome{Action: Refuse, Changes: []string{"properties.mod spec"}, Refused: []string{"properties.mod Unknown"}}},
		"ignored":                       {want: `{"properties":{"mode":"a"}}`, have: `{"properties":{"mode":"b"}}`, policy: Policy{Ignore: []field.Path{field.Path{}.Name("properties").Name("mode")}}, expect: outcome{Action: Nothing}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, patch := tree()
			in := Input{Body: body, Patch: patch, Desired: parse(t, c.want), Applied: parse(t, c.applied), Pending: parse(t, c.pending), Observed: parse(t, c.have), Settled: c.settled, Policy: c.policy}
			if d := cmp.Diff(c.expect, summarise(New(in))); d != "" {
				t.Errorf("plan (-want +got):\n%s", d)
			}
		})
	}
}

func TestSecretsAreSentOnlyWhenTheyChange(t *testing.T) {
	t.Parallel()
	body, patch := tree()
	wanted := map[string]any{"properties": map[string]any{"password": field.NewHidden("hunter2", "k:1")}}
	for name, c := range map[string]struct {
		applied string
		action  Action
	}{
		"confirmed":       {`{"properties":{"password":{"$digest":"k:1"}}}`, Nothing},
		"rotated":         {`{"properties":{"password":{"$digest":"k:0"}}}`, Put},
		"never confirmed": {``, Put},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := Input{Body: body, Patch: patch, Desired: wanted, Applied: parse(t, c.applied), Observed: parse(t, `{"properties":{"mode":"a"}}`)}
			p := New(in)
			if p.Action != c.action {
				t.Fatalf("expected %s, got %s", c.action, p.Action)
			}
			if s := asJSON(t, p.Changes); len(s) > 0 && cmp.Equal(s, "hunter2") {
				t.Errorf("a change shows the secret: %s", s)
			}
			// A PUT for whatever reason puts the secret back.
			if got, want := asJSON(t, field.Reveal(in.PutBody(p))), `{"properties":{"mode":"a","password":"hunter2"}}`; got != want {
				t.Errorf("PUT body: expected %s, got %s", want, got)
			}
		})
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want, applied, have, expect string
	}{
		"a PATCH holds the change alone": {`{"sku":{"capacity":5}}`, ``, `{"sku":{"name":"s","capacity":3},"properties":{"mode":"a"}}`, `{"sku":{"capacity":5}}`},
		"a PATCH replaces tags whole":    {`{"tags":{"a":"1"},"properties":{"mode":"b"}}`, ``, `{"tags":{"policy":"x"},"properties":{"mode":"a"}}`, `{"properties":{"mode":"b"},"tags":{"a":"1","policy":"x"}}`},
		"a PATCH says null":              {`{}`, `{"properties":{"note":"x"}}`, `{"properties":{"note":"x"}}`, `{"properties":{"note":null}}`},
		"a PUT keeps what is not ours": {
			`{"properties":{"tier":"Basic","rules":[{"name":"a","port":9}]}}`, ``,
			`{"id":"/x","tags":{"policy":"x"},"sku":{"capacity":9},"properties":{"state":"Succeeded","tier":"Standard","nsg":{"id":"/n","name":"n"},"subnets":[{"name":"theirs","properties":{"prefix":"p"}}],"rules":[{"name":"b","port":2,"by":"azure"},{"name":"a","port":1}]}}`,
			`{"properties":{"nsg":{"id":"/n"},"rules":[{"name":"b","port":2},{"name":"a","port":9}],"subnets":[{"name":"theirs","properties":{"prefix":"p"}}],"tier":"Basic"},"sku":{"capacity":9},"tags":{"policy":"x"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, patch := tree()
			in := Input{Body: body, Patch: patch, Desired: parse(t, c.want), Applied: parse(t, c.applied), Observed: parse(t, c.have)}
			p := New(in)
			made := in.PutBody(p)
			if p.Action == Patch {
				made = in.PatchBody(p)
			}
			if got := asJSON(t, made); got != c.expect {
				t.Errorf("%s body:\nexpected %s\ngot      %s", p.Action, c.expect, got)
			}
		})
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	body, _ := tree()
	lost := Lost(body, parse(t, `{"tags":{"a":"1","b":"2"},"properties":{"state":"x","rules":[{"name":"a","port":1}]}}`), parse(t, `{"tags":{"a":"1"},"properties":{"state":"y"}}`), nil)
	var got []string
	for _, p := range lost {
		got = append(got, p.String())
	}
	if d := cmp.Diff([]string{"properties.rules[name=a]", "tags.b"}, got); d != "" {
		t.Errorf("lost (-want +got):\n%s", d)
	}
}

// FuzzPlan plans arbitrary bodies against the tree: whatever a plan sends, the
// state that it leads to needs nothing more, and what is neither wanted nor
// owned is as it was.
func FuzzPlan(f *testing.F) {
	f.Add(`{"tags":{"a":"1"}}`, `{"tags":{"b":"1"}}`, `{"tags":{"b":"1","c":"2"}}`)
	f.Add(`{"properties":{"rules":[{"name":"a","port":1}]}}`, `{}`, `{"properties":{"rules":[{"name":"b"}],"zones":["1"]}}`)
	f.Add(`{"sku":{"capacity":5}}`, `{"sku":{"capacity":3},"properties":{"mode":"x"}}`, `{"sku":{"capacity":3},"properties":{"mode":"x"}}`)
	f.Fuzz(func(t *testing.T, want, applied, have string) {
		body, patch := tree()
		w, err1 := field.DecodeObject([]byte(want))
		a, err2 := field.DecodeObject([]byte(applied))
		h, err3 := field.DecodeObject([]byte(have))
		if err1 != nil || err2 != nil || err3 != nil || h == nil {
			t.Skip("no bodies")
		}
		if len(field.Validate(body, h, field.Checks{Unknown: true})) > 0 || len(field.Validate(body, a, field.Checks{Unknown: true})) > 0 {
			t.Skip("ARM holds nothing of this shape")
		}
		in := Input{Body: body, Patch: patch, Desired: w, Applied: a, Observed: h}
		before := asJSON(t, h)
		p := New(in)
		if asJSON(t, h) != before {
			t.Fatal("planning changed what was observed")
		}
		if p.Action == Nothing || p.Action == Refuse {
			return
		}
		next := in
		next.Applied, next.Observed = w, in.after(p)
		if again := New(next); len(again.Changes) > 0 || len(again.Drift) > 0 {
			t.Fatalf("after %v still %v, drift %v", summarise(p), summarise(again), again.Drift)
		}
	})
}

func BenchmarkPlan300Fields(b *testing.B) {
	fields, want, have := map[string]*field.Field{}, map[string]any{}, map[string]any{}
	for _, group := range "abcdefghijklmno" {
		inner, w, h := map[string]*field.Field{}, map[string]any{}, map[string]any{}
		for _, n := range "abcdefghijklmnopqrst" {
			inner[string(n)] = text()
			w[string(n)], h[string(n)] = "value", "value"
		}
		fields[string(group)], want[string(group)], have[string(group)] = obj(inner), w, h
	}
	in := Input{Body: obj(fields), Desired: want, Applied: want, Observed: have}
	for b.Loop() {
		if p := New(in); p.Action != Nothing {
			b.Fatal(p.Action)
		}
	}
}

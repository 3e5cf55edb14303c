package field

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	one, three := int64(1), int64(3)
	lo, hi := 1.0, 10.0
	text := &Type{Kind: String}
	item := &Type{Kind: Object, Fields: map[string]*Field{"name": {Type: text, Behaviours: Required}, "n": {Type: &Type{Kind: Integer}}}}
	pet := &Type{
		Kind: Object, Discriminator: "kind", Fields: map[string]*Field{"kind": {Type: text}},
		Variants: map[string]*Type{"Cat": {Kind: Object, Discriminator: "kind", Fields: map[string]*Field{"kind": {Type: text}, "lives": {Type: &Type{Kind: Integer}}}}},
	}
	root := &Field{Type: &Type{Kind: Object, Fields: map[string]*Field{
		"location": {Type: &Type{Kind: String, Limits: Limits{MinLength: &one, MaxLength: &three}}, Behaviours: Required},
		"id":       {Type: text, Behaviours: ReadOnly | Required},
		"tier":     {Type: &Type{Kind: String, Enum: []any{"Free", "Paid"}, Closed: true}},
		"open":     {Type: &Type{Kind: String, Enum: []any{"a"}}},
		"count":    {Type: &Type{Kind: Integer, Limits: Limits{Minimum: &lo, Maximum: &hi}}},
		"ratio":    {Type: &Type{Kind: Number}},
		"on":       {Type: &Type{Kind: Boolean}},
		"match":    {Type: &Type{Kind: String, Limits: Limits{Pattern: "^[a-z]+$"}}},
		"ecma":     {Type: &Type{Kind: String, Limits: Limits{Pattern: "^(?!x).*$"}}},
		"items":    {Type: &Type{Kind: List, Elem: &Field{Type: item}, Keys: []string{"name"}, Limits: Limits{MinItems: &one, MaxItems: &three}}},
		"plain":    {Type: &Type{Kind: List, Elem: &Field{Type: &Type{Kind: Integer}}}},
		"tags":     {Type: &Type{Kind: Map, Elem: &Field{Type: text}}},
		"free":     {Type: &Type{Kind: Object}},
		"extended": {Type: &Type{Kind: Object, Fields: map[string]*Field{"a": {Type: text}}, Elem: &Field{Type: &Type{Kind: Integer}}}},
		"any":      {Type: &Type{Kind: Any}},
		"pet":      {Type: pet},
		"password": {Type: &Type{Kind: String, Limits: Limits{MinLength: &three}}, Behaviours: Secret},
	}}}
	all := Checks{Required: true, ReadOnly: true, Unknown: true, References: true}
	for name, tc := range map[string]struct {
		body   string
		checks Checks
		want   []string
	}{
		"good": {`{"location":"abc","tier":"free","open":"zzz","count":1,"ratio":2,"on":true,"match":"a","ecma":"x","items":[{"name":"a"}],
			"plain":[1,2.0],"tags":{"a.b":"c"},"free":{"x":[1]},"extended":{"a":"x","b":1},"any":[{}],"pet":{"kind":"cat","lives":9},"password":{"secretKeyRef":{}}}`, all, nil},
		"nulls are absent":     {`{"location":"a","tier":null,"count":null,"items":null,"id":null}`, all, nil},
		"nothing required":     {`{}`, Checks{}, nil},
		"required":             {`{"items":[{"n":1}]}`, all, []string{"items[0].name: Missing: required", "location: Missing: required"}},
		"required, null":       {`{"location":null}`, all, []string{"location: Missing: required"}},
		"names in other case":  {`{"LOCATION":"abc"}`, all, nil},
		"read-only":            {`{"location":"a","id":"x"}`, all, []string{"id: ReadOnly: set by the service; leave it out"}},
		"read-only allowed":    {`{"id":5}`, Checks{}, nil},
		"unknown":              {`{"location":"a","locaton":"b","zzz":1}`, all, []string{"locaton: Unknown: no such field; did you mean location?", "zzz: Unknown: no such field"}},
		"unknown in an item":   {`{"location":"a","items":[{"name":"x.y","nam":1}]}`, all, []string{"items[name='x.y'].nam: Unknown: no such field; did you mean name?"}},
		"unknown allowed":      {`{"zzz":1}`, Checks{}, nil},
		"wrong types":          {`{"location":1,"count":"1","on":1,"tags":[],"items":{},"free":1}`, Checks{}, []string{"count: WrongType: expected integer, found string", "free: WrongType: expected object, found integer", "items: WrongType: expected list, found object", "location: WrongType: expected string, found integer", "on: WrongType: expected boolean, found integer", "tags: WrongType: expected map, found list"}},
		"a fraction":           {`{"count":1.5}`, Checks{}, []string{"count: WrongType: expected integer, found number"}},
		"in a map":             {`{"tags":{"a.b":1}}`, Checks{}, []string{"tags['a.b']: WrongType: expected string, found integer"}},
		"in an open object":    {`{"extended":{"b":"x"}}`, all, []string{"extended.b: WrongType: expected integer, found string", "location: Missing: required"}},
		"in a variant":         {`{"pet":{"kind":"Cat","lives":"9"}}`, Checks{}, []string{"pet.lives: WrongType: expected integer, found string"}},
		"an unknown variant":   {`{"location":"a","pet":{"kind":"Dog","bark":1}}`, all, []string{"pet.bark: Unknown: no such field"}},
		"closed enum":          {`{"tier":"Gold"}`, Checks{}, []string{"tier: NotSupported: expected one of Free, Paid, found Gold"}},
		"too short":            {`{"location":""}`, Checks{}, []string{"location: OutOfLimits: expected at least 1 characters, found 0"}},
		"too long":             {`{"location":"éééé"}`, Checks{}, []string{"location: OutOfLimits: expected at most 3 characters, found 4"}},
		"pattern":              {`{"match":"A"}`, Checks{}, []string{"match: OutOfLimits: expected to match ^[a-z]+$"}},
		"too small":            {`{"count":0}`, Checks{}, []string{"count: OutOfLimits: expected at least 1, found 0"}},
		"too large":            {`{"count":11}`, Checks{}, []string{"count: OutOfLimits: expected at most 10, found 11"}},
		"too few":              {`{"items":[]}`, Checks{}, []string{"items: OutOfLimits: expected at least 1 items, found 0"}},
		"too many":             {`{"items":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]}`, Checks{}, []string{"items: OutOfLimits: expected at most 3 items, found 4"}},
		"references":           {`{"location":"ref:Group/web#location","match":"ref:X/Y"}`, all, nil},
		"references, resolved": {`{"match":"ref:X/Y"}`, Checks{}, []string{"match: OutOfLimits: expected to match ^[a-z]+$"}},
		"a secret's reference": {`{"password":{"secretKeyRef":{}}}`, Checks{}, []string{"password: WrongType: expected string, found object"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range Validate(root, mustDecode(t, tc.body), tc.checks) {
				got = append(got, p.Error())
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestValidateWithoutTree(t *testing.T) {
	t.Parallel()
	if got := Validate(nil, map[string]any{"a": 1}, Checks{Unknown: true}); got != nil {
		t.Errorf("got %v", got)
	}
}

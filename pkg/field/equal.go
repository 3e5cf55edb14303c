package field

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Equal reports whether a and b are the same JSON value by ARM's notion of
// equality for f; a nil f compares exactly. Objects compare key by key.
func Equal(f *Field, a, b any) bool {
	return same(f, a, b, false)
}

// Covers reports whether have says everything that want says: services add
// leaves of their own to what was sent, drop nulls and empty values, and
// spell IDs and locations differently. Lists must have as many items.
func Covers(f *Field, want, have any) bool {
	return same(f, want, have, true)
}

func same(f *Field, want, have any, subset bool) bool {
	if subset && have == nil && Empty(want) {
		return true
	}
	if d := digestOf(want); d != "" {
		return digestOf(have) == d
	}
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		return ok && sameObject(f, w, h, subset)
	case []any:
		h, ok := have.([]any)
		return ok && sameList(f, w, h, subset)
	case Hidden:
		// Without a digest nothing is known of it.
		return false
	case nil:
		return have == nil
	}
	return sameScalar(f, want, have)
}

// Empty reports whether v is null, an empty object or an empty list, or an
// object of nothing but such values: what services drop.
func Empty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case []any:
		return len(x) == 0
	case map[string]any:
		for _, e := range x {
			if !Empty(e) {
				return false
			}
		}
		return true
	}
	return false
}

func digestOf(v any) string {
	switch x := v.(type) {
	case Hidden:
		return x.digest
	case map[string]any:
		if d, ok := x[DigestKey].(string); ok && len(x) == 1 {
			return d
		}
	}
	return ""
}

func sameObject(f *Field, want, have map[string]any, subset bool) bool {
	if !subset && len(want) != len(have) {
		return false
	}
	for k, w := range want {
		name, ok := FoldedKey(have, k)
		if !ok && !(subset && Empty(w)) {
			return false
		}
		var child *Field
		if f != nil && f.Type != nil {
			child = f.Child(want, k)
		}
		if !same(child, w, have[name], subset) {
			return false
		}
	}
	return true
}

func sameList(f *Field, want, have []any, subset bool) bool {
	if len(want) != len(have) {
		return false
	}
	var item *Field
	unordered := false
	if f != nil && f.Type != nil {
		item = f.Elem
		unordered = f.Equality == Unordered || len(f.Keys) > 0
	}
	if !unordered {
		for i := range want {
			if !same(item, want[i], have[i], subset) {
				return false
			}
		}
		return true
	}
	return matchAll(len(want), func(i, j int) bool { return same(item, want[i], have[j], subset) })
}

// matchAll reports whether n wanted items can each be given one of n found
// items that fits. One that fits several makes room for one that fits fewer.
func matchAll(n int, fits func(want, have int) bool) bool {
	owner := make([]int, n)
	for j := range owner {
		owner[j] = -1
	}
	var place func(i int, seen []bool) bool
	place = func(i int, seen []bool) bool {
		for k := range n {
			// Most lists come back in order.
			j := (i + k) % n
			if seen[j] || !fits(i, j) {
				continue
			}
			seen[j] = true
			if owner[j] < 0 || place(owner[j], seen) {
				owner[j] = i
				return true
			}
		}
		return false
	}
	for i := range n {
		if !place(i, make([]bool, n)) {
			return false
		}
	}
	return true
}

func sameScalar(f *Field, a, b any) bool {
	as, aok := a.(string)
	bs, bok := b.(string)
	if aok && bok {
		return sameString(f, as, bs)
	}
	if ab, ok := a.(bool); ok {
		bb, ok := b.(bool)
		return ok && ab == bb
	}
	an, aok := number(a)
	bn, bok := number(b)
	if aok && bok {
		return sameNumber(an, bn)
	}
	return false
}

func sameString(f *Field, a, b string) bool {
	if a == b {
		return true
	}
	if f == nil {
		return false
	}
	switch f.Equality {
	case FoldCase:
		return strings.EqualFold(a, b)
	case ResourceID:
		return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
	case Location:
		return FoldLocation(a) == FoldLocation(b)
	case Exact, Unordered:
		return false
	}
	return false
}

// FoldLocation spells a location as ARM compares it: "West US 2" is westus2.
func FoldLocation(s string) string {
	return strings.ToLower(strings.ReplaceAll(s, " ", ""))
}

func number(v any) (string, bool) {
	switch n := v.(type) {
	case json.Number:
		return n.String(), true
	case float64:
		return strconv.FormatFloat(n, 'g', -1, 64), true
	case int:
		return strconv.Itoa(n), true
	case int64:
		return strconv.FormatInt(n, 10), true
	}
	return "", false
}

func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, ok := rational(a)
	if !ok {
		return false
	}
	y, ok := rational(b)
	return ok && x.Cmp(y) == 0
}

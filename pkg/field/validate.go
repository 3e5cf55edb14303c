package field

import (
	"fmt"
	"math/big"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"
)

// Problem is one thing wrong with a value.
type Problem struct { //nolint:errname // it is a finding first, an error second
	Path Path
	// Reason is one of the Reason constants.
	Reason Reason
	// Detail says what was expected.
	Detail string
}

// Reason classifies a Problem.
type Reason string

// The reasons.
const (
	Unknown      Reason = "Unknown"
	WrongType    Reason = "WrongType"
	NotSupported Reason = "NotSupported"
	OutOfLimits  Reason = "OutOfLimits"
	IsReadOnly   Reason = "ReadOnly"
	Missing      Reason = "Missing"
)

// Error writes path, reason and detail.
func (p Problem) Error() string {
	return fmt.Sprintf("%s: %s: %s", p.Path, p.Reason, p.Detail)
}

// Checks selects what Validate looks for beside types and limits.
type Checks struct {
	// Required reports required fields that are missing.
	Required bool
	// ReadOnly reports read-only fields that are present.
	ReadOnly bool
	// Unknown reports fields that the type does not declare.
	Unknown bool
	// References accepts any string that starts with "ref:" where a string is
	// expected, and an object in place of a secret.
	References bool
}

// Validate checks a body against its field tree and returns the problems in
// the order of their paths. A null stands for an absent value.
func Validate(f *Field, v any, c Checks) []Problem {
	w := validator{checks: c}
	w.value(nil, f, v)
	sort.SliceStable(w.problems, func(i, j int) bool {
		return w.problems[i].Path.String() < w.problems[j].Path.String()
	})
	return w.problems
}

type validator struct {
	checks   Checks
	problems []Problem
}

func (w *validator) add(p Path, r Reason, format string, args ...any) {
	w.problems = append(w.problems, Problem{Path: p, Reason: r, Detail: fmt.Sprintf(format, args...)})
}

func (w *validator) value(p Path, f *Field, v any) {
	if v == nil || f == nil || f.Type == nil {
		return
	}
	if w.reference(f, v) {
		return
	}
	switch f.Kind {
	case Object:
		if m, ok := v.(map[string]any); ok {
			w.object(p, f.For(m), m)
			return
		}
	case Map:
		if m, ok := v.(map[string]any); ok {
			for k, e := range m {
				w.value(p.Name(k), f.Elem, e)
			}
			return
		}
	case List:
		if l, ok := v.([]any); ok {
			w.list(p, f, l)
			return
		}
	case String, Integer, Number, Boolean:
		w.scalar(p, f, v)
		return
	case Any:
		return
	}
	w.add(p, WrongType, "expected %s, found %s", f.Kind, KindOf(v))
}

// reference reports whether v stands for a value that is not known yet.
func (w *validator) reference(f *Field, v any) bool {
	if !w.checks.References {
		return false
	}
	if s, ok := v.(string); ok && f.Kind == String && strings.HasPrefix(s, "ref:") {
		return true
	}
	_, ok := v.(map[string]any)
	return ok && f.Behaviours.Has(Secret)
}

func (w *validator) object(p Path, t *Type, m map[string]any) {
	for k, v := range m {
		f := t.Child(m, k)
		switch {
		case f == nil && t.Kind == Object && len(t.Fields) > 0:
			if w.checks.Unknown && k != t.Discriminator {
				w.add(p.Name(k), Unknown, "no such field%s", suggest(t, k))
			}
		case f == nil:
		case f.Behaviours.Has(ReadOnly):
			if w.checks.ReadOnly && v != nil {
				w.add(p.Name(k), IsReadOnly, "set by the service; leave it out")
			}
		default:
			w.value(p.Name(k), f, v)
		}
	}
	if !w.checks.Required {
		return
	}
	for _, n := range sortedKeys(t.Fields) {
		f := t.Fields[n]
		if !f.Behaviours.Has(Required) || f.Behaviours.Has(ReadOnly) {
			continue
		}
		if have, ok := FoldedKey(m, n); !ok || m[have] == nil {
			w.add(p.Name(n), Missing, "required")
		}
	}
}

func (w *validator) list(p Path, f *Field, l []any) {
	n := int64(len(l))
	if f.MinItems != nil && n < *f.MinItems {
		w.add(p, OutOfLimits, "expected at least %d items, found %d", *f.MinItems, n)
	}
	if f.MaxItems != nil && n > *f.MaxItems {
		w.add(p, OutOfLimits, "expected at most %d items, found %d", *f.MaxItems, n)
	}
	for i, e := range l {
		at := p.At(i)
		if keys, ok := f.ItemKeys(e); ok {
			at = p.Item(keys...)
		}
		w.value(at, f.Elem, e)
	}
}

func (w *validator) scalar(p Path, f *Field, v any) {
	got := KindOf(v)
	if got != f.Kind && !(f.Kind == Number && got == Integer) {
		w.add(p, WrongType, "expected %s, found %s", f.Kind, got)
		return
	}
	if f.Closed && !f.inEnum(v) {
		if f.Behaviours.Has(Secret) {
			v = Hidden{}
		}
		w.add(p, NotSupported, "expected one of %s, found %v", enumText(f.Enum), v)
	}
	if s, ok := v.(string); ok {
		w.text(p, f, s)
		return
	}
	if n, ok := number(v); ok {
		w.bounds(p, f, n)
	}
}

func (t *Type) inEnum(v any) bool {
	for _, e := range t.Enum {
		if s, ok := e.(string); ok {
			if x, ok := v.(string); ok && strings.EqualFold(s, x) {
				return true
			}
		} else if sameScalar(nil, e, v) {
			return true
		}
	}
	return false
}

func enumText(enum []any) string {
	names := make([]string, len(enum))
	for i, e := range enum {
		names[i] = fmt.Sprint(e)
	}
	return strings.Join(names, ", ")
}

func (w *validator) text(p Path, f *Field, s string) {
	n := int64(utf8.RuneCountInString(s))
	if f.MinLength != nil && n < *f.MinLength {
		w.add(p, OutOfLimits, "expected at least %d characters, found %d", *f.MinLength, n)
	}
	if f.MaxLength != nil && n > *f.MaxLength {
		w.add(p, OutOfLimits, "expected at most %d characters, found %d", *f.MaxLength, n)
	}
	if f.Pattern == "" {
		return
	}
	// Patterns are ECMA regular expressions; one that RE2 can't read is left
	// to the service.
	if re, err := regexp.Compile(f.Pattern); err == nil && !re.MatchString(s) {
		w.add(p, OutOfLimits, "expected to match %s", f.Pattern)
	}
}

func (w *validator) bounds(p Path, f *Field, n string) {
	r, ok := rational(n)
	if !ok {
		return
	}
	if f.Minimum != nil && r.Cmp(new(big.Rat).SetFloat64(*f.Minimum)) < 0 {
		w.add(p, OutOfLimits, "expected at least %v, found %s", *f.Minimum, n)
	}
	if f.Maximum != nil && r.Cmp(new(big.Rat).SetFloat64(*f.Maximum)) > 0 {
		w.add(p, OutOfLimits, "expected at most %v, found %s", *f.Maximum, n)
	}
}

// suggest names the declared field nearest in spelling.
func suggest(t *Type, name string) string {
	best, bestDistance := "", 3
	for _, n := range sortedKeys(t.Fields) {
		if d := distance(strings.ToLower(n), strings.ToLower(name)); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		cur := make([]int, len(b)+1)
		cur[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			cur[j+1] = min(prev[j+1]+1, cur[j]+1, prev[j]+cost)
		}
		prev = cur
	}
	return prev[len(b)]
}

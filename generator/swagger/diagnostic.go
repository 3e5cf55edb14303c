package swagger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a diagnostic stops a type from being generated.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Diagnostic is one thing wrong with the input: where, what was expected, and
// how to mend it. It is an error.
type Diagnostic struct { //nolint:errname // it may be a warning too
	Severity Severity
	// Type is the ARM type concerned, "" where a whole file is.
	Type string
	// File is relative to the specs folder; Pointer is a JSON pointer in it,
	// or "line:column" where the file is no JSON.
	File, Pointer string
	Message       string
	Hint          string
}

// Error writes file#pointer: severity: message (hint).
func (d *Diagnostic) Error() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File)
		if d.Pointer != "" {
			b.WriteString("#" + d.Pointer)
		}
		b.WriteString(": ")
	}
	b.WriteString(string(d.Severity) + ": ")
	if d.Type != "" {
		b.WriteString(d.Type + ": ")
	}
	b.WriteString(d.Message)
	if d.Hint != "" {
		b.WriteString("\n\thint: " + d.Hint)
	}
	return b.String()
}

// Diagnostics gathers diagnostics, each once.
type Diagnostics struct {
	all  []*Diagnostic
	seen map[Diagnostic]bool
}

// Add keeps d unless an equal one is there.
func (ds *Diagnostics) Add(d Diagnostic) {
	if ds.seen == nil {
		ds.seen = map[Diagnostic]bool{}
	}
	if !ds.seen[d] {
		ds.seen[d] = true
		ds.all = append(ds.all, &d)
	}
}

// Merge adds all of other.
func (ds *Diagnostics) Merge(other *Diagnostics) {
	for _, d := range other.all {
		ds.Add(*d)
	}
}

// Warn adds a warning about one place.
func (ds *Diagnostics) Warn(file, pointer, hint, format string, args ...any) {
	ds.Add(Diagnostic{Severity: Warning, File: file, Pointer: pointer, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// Fail adds an error about one place.
func (ds *Diagnostics) Fail(file, pointer, hint, format string, args ...any) {
	ds.Add(Diagnostic{Severity: Error, File: file, Pointer: pointer, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// Sorted lists the diagnostics by file, pointer and text.
func (ds *Diagnostics) Sorted() []*Diagnostic {
	all := slices.Clone(ds.all)
	slices.SortStableFunc(all, func(a, b *Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Message, b.Message))
	})
	return all
}

// Count is how many diagnostics are of a severity.
func (ds *Diagnostics) Count(s Severity) int {
	n := 0
	for _, d := range ds.all {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// Nearest names the candidate nearest in spelling to name; "" where none is
// near.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", 1+len(name)/4
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c), bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance, or limit where it is no less.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
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

package emit

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/pkg/field"
)

// Reference writes a kind's page: its fields by ARM path, with behaviours and
// limits.
func Reference(r *classify.Result, _ Options) (File, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- %s -->\n\n# %s\n\n", header, r.Kind)
	for _, row := range [][2]string{
		{"apiVersion", r.GVK().GroupVersion().String()},
		{"ARM type", r.Type},
		{"ARM API version", r.APIVersion},
		{"Resource name", r.Plural},
		{"Short names", strings.Join(r.ShortNames, ", ")},
		{"Owner", ownerText(r)},
		{"Verbs", strings.Join(slices.Sorted(maps.Keys(r.Verbs)), ", ")},
		{"Replicas", r.Replicas},
		{"Name", nameText(r)},
	} {
		if row[1] != "" {
			fmt.Fprintf(&b, "- %s: `%s`\n", row[0], row[1])
		}
	}
	b.WriteString("\n## Spec\n\n| ARM path | shape | behaviour | limits |\n|---|---|---|---|\n")
	w := pageWriter{out: &b, stack: map[*field.Type]bool{}}
	w.fields(Flatten(r.Body), nil)
	if len(r.Actions) > 0 {
		b.WriteString("\n## Actions\n\n")
		for _, a := range r.Actions {
			secret := ""
			if a.Secret {
				secret = ": answers with credentials"
			}
			fmt.Fprintf(&b, "- `POST %s`%s\n", a.Name, secret)
		}
	}
	group := strings.TrimSuffix(r.Group, ".armature.dev")
	return File{Path: "docs/reference/" + group + "/" + strings.ToLower(r.Kind) + ".md", Content: b.Bytes()}, nil
}

func nameText(r *classify.Result) string {
	n := r.Name
	var parts []string
	switch {
	case n.Fixed != "":
		parts = append(parts, "always "+n.Fixed)
	case len(n.Enum) > 0:
		parts = append(parts, "one of "+strings.Join(n.Enum, ", "))
	}
	if n.MinLength > 0 || n.MaxLength > 0 {
		parts = append(parts, fmt.Sprintf("%d to %d characters", n.MinLength, n.MaxLength))
	}
	if n.Pattern != "" {
		parts = append(parts, "matches "+n.Pattern)
	}
	return strings.Join(parts, "; ")
}

const (
	maxPageDepth = 10
	maxPageRows  = 3000
)

type pageWriter struct {
	out   *bytes.Buffer
	stack map[*field.Type]bool
	rows  int
}

func (w *pageWriter) fields(f *field.Field, t trail) {
	switch f.Kind {
	case field.List:
		w.fields(f.Elem, t.with("[]"))
		return
	case field.Map:
		if f.Elem != nil {
			w.fields(f.Elem, t.with("{}"))
		}
		return
	case field.Object:
	case field.String, field.Integer, field.Number, field.Boolean, field.Any:
		return
	}
	if w.stack[f.Type] || f.Embedded || len(t) > maxPageDepth {
		return
	}
	w.stack[f.Type] = true
	defer delete(w.stack, f.Type)
	for _, n := range slices.Sorted(maps.Keys(f.Fields)) {
		c := f.Fields[n]
		at := t.with(n)
		if w.rows++; w.rows > maxPageRows {
			return
		}
		fmt.Fprintf(w.out, "| `%s` | %s | %s | %s |\n", at, cell(shapeText(c)), cell(strings.Join(behaviourTexts(c), "; ")), cell(limitText(c)))
		if !c.Behaviours.Has(field.ReadOnly) {
			w.fields(c, at)
		}
	}
}

func cell(s string) string { return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s) }

func limitText(f *field.Field) string {
	var parts []string
	if f.Closed {
		parts = append(parts, "one of "+enumText(f.Enum))
	}
	for _, l := range []struct {
		name string
		v    *int64
	}{{"min length", f.MinLength}, {"max length", f.MaxLength}, {"min items", f.MinItems}, {"max items", f.MaxItems}} {
		if l.v != nil {
			parts = append(parts, fmt.Sprintf("%s %d", l.name, *l.v))
		}
	}
	if f.Minimum != nil {
		parts = append(parts, fmt.Sprintf("at least %v", *f.Minimum))
	}
	if f.Maximum != nil {
		parts = append(parts, fmt.Sprintf("at most %v", *f.Maximum))
	}
	if f.Pattern != "" {
		parts = append(parts, "matches `"+f.Pattern+"`")
	}
	if f.Default != nil {
		parts = append(parts, fmt.Sprintf("default %v", f.Default))
	}
	return strings.Join(parts, "; ")
}

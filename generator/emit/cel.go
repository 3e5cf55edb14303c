package emit

import (
	"regexp"
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/armature-dev/armature/pkg/field"
)

const (
	wayOut  = "can't be changed after creation; delete and create again, or use another name"
	lifted  = "has(self.resourceID) || (has(self.policy) && has(self.policy.update) && self.policy.update == 'Observe')"
	liftHow = "; set it, or name an existing resource in resourceID"
)

// ownRules keep the identity of an object.
func ownRules() []apiext.ValidationRule {
	rule := func(name string) apiext.ValidationRule {
		return apiext.ValidationRule{
			Rule:      "has(self." + name + ") ? has(oldSelf." + name + ") && self." + name + " == oldSelf." + name + " : !has(oldSelf." + name + ")",
			Message:   name + " " + wayOut,
			FieldPath: "." + name,
			Reason:    new(apiext.FieldValueForbidden),
		}
	}
	return []apiext.ValidationRule{rule("azureName"), rule("owner")}
}

// createOnlyRule refuses that a value changes or goes away. Additions pass:
// Azure may have made up the value, and the planner compares it with that.
func createOnlyRule(f *field.Field, t trail) []apiext.ValidationRule {
	names, ok := identifiers(t)
	if !ok {
		return nil
	}
	leaf := func(side string) string {
		s := side + "." + strings.Join(names, ".")
		switch f.Equality {
		case field.Location:
			return s + ".lowerAscii().replace(' ', '')"
		case field.ResourceID, field.FoldCase:
			if f.Kind == field.String {
				return s + ".lowerAscii()"
			}
		case field.Exact, field.Unordered:
		}
		return s
	}
	had, has := hasChain("oldSelf", names), hasChain("self", names)
	return []apiext.ValidationRule{{
		Rule:      "!(" + had + ") || (" + has + " && " + leaf("self") + " == " + leaf("oldSelf") + ")",
		Message:   t.String() + " " + wayOut,
		FieldPath: fieldPath(t),
		Reason:    new(apiext.FieldValueForbidden),
	}}
}

// requiredRule demands a value unless the resource exists already.
func requiredRule(t trail) []apiext.ValidationRule {
	names, ok := identifiers(t)
	if !ok {
		return nil
	}
	return []apiext.ValidationRule{{
		Rule:    lifted + " || (" + hasChain("self", names) + ")",
		Message: t.String() + " is required" + liftHow,
		Reason:  new(apiext.FieldValueRequired),
	}}
}

func hasChain(side string, names []string) string {
	parts := make([]string, len(names))
	for i := range names {
		parts[i] = "has(" + side + "." + strings.Join(names[:i+1], ".") + ")"
	}
	return strings.Join(parts, " && ")
}

var celName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.\-/]*$`)

// identifiers spells property names as CEL does; false where it can't.
func identifiers(t trail) ([]string, bool) {
	reserved := []string{
		"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
		"import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
	}
	out := make([]string, len(t))
	for i, n := range t {
		if !celName.MatchString(n) {
			return nil, false
		}
		if slices.Contains(reserved, n) {
			out[i] = "__" + n + "__"
			continue
		}
		n = strings.ReplaceAll(n, "__", "__underscores__")
		out[i] = strings.NewReplacer(".", "__dot__", "-", "__dash__", "/", "__slash__").Replace(n)
	}
	return out, true
}

// fieldPath writes a path as the API server reads it.
func fieldPath(t trail) string {
	var b strings.Builder
	for _, n := range t {
		if strings.ContainsAny(n, ".-/") {
			b.WriteString("['" + n + "']")
		} else {
			b.WriteString("." + n)
		}
	}
	return b.String()
}

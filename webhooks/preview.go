package webhooks

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/plan"
	"github.com/armature-dev/armature/pkg/resource"
)

// The API server cuts warnings at 256 runes and drops those beyond 4,096 in
// all.
const (
	warningRunes = 250
	warningLines = 15
)

// preview is the plan of a dry run as warnings, the summary first. It plans
// against what ARM was last seen to hold.
func preview(d *resource.Descriptor, o *object) []string {
	observed, err := field.DecodeObject(o.status.Observed)
	if err != nil {
		return nil
	}
	if observed == nil {
		return []string{"plan: Create " + d.Type}
	}
	p := plan.New(plan.Input{Body: d.Body, Patch: d.Patch, Desired: known(o.spec.Body), Applied: known(o.spec.Body), Observed: observed})
	lines := []string{fmt.Sprintf("plan: %s, %d changes", p.Action, len(p.Changes))}
	for i, c := range p.Changes {
		if i == warningLines-2 {
			lines = append(lines, fmt.Sprintf("… and %d more", len(p.Changes)-i))
			break
		}
		lines = append(lines, line(c))
	}
	return lines
}

func line(c plan.Change) string {
	s := fmt.Sprintf("%s: %s → %s", c.Path, short(c.Old), short(c.New))
	s = strings.NewReplacer("\n", " ", "\t", " ").Replace(s)
	if r := []rune(s); len(r) > warningRunes {
		return string(r[:warningRunes-1]) + "…"
	}
	return s
}

func short(v any) string {
	if v == nil {
		return "none"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(b)
}

// known drops references and secrets, whose values the webhook does not read.
func known(body map[string]any) map[string]any {
	c, _ := prune(body).(map[string]any)
	return c
}

func prune(v any) any {
	switch x := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(x))
		for k, e := range x {
			if m, ok := e.(map[string]any); ok && m["secretKeyRef"] != nil && len(m) == 1 {
				continue
			}
			if s, ok := e.(string); ok && strings.HasPrefix(s, "ref:") {
				continue
			}
			c[k] = prune(e)
		}
		return c
	case []any:
		c := make([]any, len(x))
		for i := range x {
			c[i] = prune(x[i])
		}
		return c
	}
	return v
}

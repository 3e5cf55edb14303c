// Package plan decides what to send to ARM: a pure function of what the spec
// wants, what was last applied and what ARM holds. It performs no I/O and
// knows no clock.
package plan

import (
	"sort"

	"github.com/armature-dev/armature/pkg/field"
)

// Action is the kind of request that carries a plan out.
type Action string

// The actions.
const (
	// Nothing needs to be sent.
	Nothing Action = "Nothing"
	// Create is a PUT of the whole spec where ARM holds nothing.
	Create Action = "Create"
	// Patch sends the changes alone.
	Patch Action = "Patch"
	// Put sends a fresh GET with the changes applied.
	Put Action = "Put"
	// Tags changes tags alone, by the tags resource.
	Tags Action = "Tags"
	// Refuse means that the spec can't be applied as it is; see Refused.
	Refuse Action = "Refuse"
)

// Cause tells why a change is made.
type Cause string

// The causes.
const (
	// Spec: the user set or changed the value.
	Spec Cause = "spec"
	// Drifted: the value was ours and somebody changed it.
	Drifted Cause = "drift"
	// Removed: a key or item that we added left the spec.
	Removed Cause = "removed"
	// Reset: a value that we set left the spec and goes back to its default.
	Reset Cause = "reset"
)

// Change is one difference that a request makes. Old and New are nil where
// there is no value; New nil with cause Removed deletes.
type Change struct {
	Path  field.Path
	Old   any
	New   any
	Cause Cause
}

// Drift is a field of ours that ARM holds otherwise.
type Drift struct {
	Path   field.Path
	Wanted any
	Found  any
	// Left is true where it is reported and not corrected.
	Left bool
}

// Settled is a value that ARM turned into another when it was last sent.
type Settled struct {
	Path    string
	Sent    any
	Settled any
}

// Policy bends a plan.
type Policy struct {
	// ReportDrift leaves drifted fields alone.
	ReportDrift bool
	// Ignore lists paths that are neither compared nor sent.
	Ignore []field.Path
	// NoPatch demotes the type to GET and PUT.
	NoPatch bool
	// NoTags keeps tag-only plans from the tags resource.
	NoTags bool
}

// Input is all that a plan depends on. Bodies are in ARM's form: secrets are
// field.Hidden in Desired and digests in Applied and Pending.
type Input struct {
	Body  *field.Field
	Patch *field.Field

	// Desired is the spec's body, references resolved.
	Desired map[string]any
	// Applied was confirmed by a success; Pending was sent, fate unknown.
	Applied map[string]any
	Pending map[string]any
	// Observed is the last GET's body; nil where ARM holds nothing.
	Observed map[string]any
	Settled  []Settled
	Policy   Policy
}

// Plan is what to do and why. The order of its lists is that of the paths.
type Plan struct {
	Action   Action
	Changes  []Change
	Drift    []Drift
	Released []field.Path
	Refused  []field.Problem
}

// CreateOnlyChange refuses a change of what is set at creation alone.
const CreateOnlyChange field.Reason = "CreateOnly"

// New plans. It never changes its input.
func New(in Input) Plan {
	checks := field.Checks{ReadOnly: true, Unknown: true, Required: in.Observed == nil}
	var p Plan
	p.Refused = append(p.Refused, field.Validate(in.Body, strip(in.Desired, in.Policy.Ignore), checks)...)
	if in.Observed == nil {
		p.Action = Create
		if len(p.Refused) > 0 {
			p.Action = Refuse
		}
		return p
	}
	d := differ{in: in, plan: &p}
	d.object(nil, scope{f: in.Body}, sides{
		want: in.Desired, applied: in.Applied, pending: in.Pending, have: in.Observed,
	})
	p.sort()
	p.Action = in.choose(p)
	return p
}

func (p *Plan) sort() {
	sort.SliceStable(p.Changes, func(i, j int) bool { return p.Changes[i].Path.String() < p.Changes[j].Path.String() })
	sort.SliceStable(p.Drift, func(i, j int) bool { return p.Drift[i].Path.String() < p.Drift[j].Path.String() })
	sort.SliceStable(p.Released, func(i, j int) bool { return p.Released[i].String() < p.Released[j].String() })
}

func (in Input) choose(p Plan) Action {
	switch {
	case len(p.Refused) > 0:
		return Refuse
	case len(p.Changes) == 0:
		return Nothing
	case !in.Policy.NoTags && tagsOnly(p.Changes):
		return Tags
	case in.Patch != nil && !in.Policy.NoPatch && in.expressible(p.Changes):
		return Patch
	}
	return Put
}

const tagsKey = "tags"

// tagsOnly reports whether all changes are single tags.
func tagsOnly(changes []Change) bool {
	for _, c := range changes {
		if len(c.Path) != 2 || c.Path[0].Name != tagsKey {
			return false
		}
	}
	return true
}

func strip(body map[string]any, ignore []field.Path) map[string]any {
	if len(ignore) == 0 {
		return body
	}
	c := field.CloneObject(body)
	for _, p := range ignore {
		remove(c, p)
	}
	return c
}

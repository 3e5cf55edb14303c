// Package hooks lets a resource type bend what the generic reconciler does.
// A hook is any value that implements one or more of the small interfaces
// here; they are found by type assertion. Data (an overlay) comes before code
// (a hook).
package hooks

import (
	"context"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/armclient"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/plan"
)

// Resource is what a hook is told of the object at hand. It is read-only.
type Resource struct {
	ID       arm.ID
	Desired  map[string]any
	Observed map[string]any
}

// Reader makes GETs below the resource. It may be called any number of times;
// each call is one ARM read.
type Reader interface {
	// Get reads a path below the resource's ID: "instanceView".
	Get(ctx context.Context, suffix string) (map[string]any, error)
}

// BodyModifier changes the desired body before planning. It must return the
// same result for the same input; an error stalls the object.
type BodyModifier interface {
	ModifyBody(r Resource) (map[string]any, error)
}

// PlanModifier changes a plan before it is carried out. It must be pure.
type PlanModifier interface {
	ModifyPlan(r Resource, p plan.Plan) plan.Plan
}

// Validator adds problems to what the descriptor finds, at admission and
// before each request. It must be pure; Observed may be nil.
type Validator interface {
	Validate(r Resource) []field.Problem
}

// Classifier adds rows to the table of outcomes for its type.
type Classifier interface {
	Rules() []armclient.Rule
}

// Joiner reads beside the resource and adds to its observed state. It is
// called after the resource was found whole; its error is reported and does
// not keep the object from being ready. The result is merged at the root of
// status.observed.
type Joiner interface {
	Join(ctx context.Context, r Resource, read Reader) (map[string]any, error)
}

// ReadyDecider has a say in readiness once ARM calls the resource succeeded;
// the reason is CamelCase.
type ReadyDecider interface {
	Ready(r Resource) (ready bool, reason, message string)
}

// Finalizer works before the resource is deleted. It is repeated until it
// returns nil.
type Finalizer interface {
	Finalize(ctx context.Context, r Resource, read Reader) error
}

// Registry holds the hook of each ARM type that has one.
type Registry map[string]any

// For finds the hook of an ARM type as T; ok is false where there is none.
func For[T any](r Registry, armType string) (hook T, ok bool) {
	hook, ok = r[armType].(T)
	return hook, ok
}

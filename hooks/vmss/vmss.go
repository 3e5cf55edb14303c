// Package vmss joins a scale set's instance view into its status.
package vmss

import (
	"context"

	"github.com/armature-dev/armature/hooks"
)

// Type is the ARM type that the hook is for.
const Type = "Microsoft.Compute/virtualMachineScaleSets"

const instanceView = "instanceView"

// Hook is the scale set's hook.
type Hook struct{}

var _ hooks.Joiner = Hook{}

// Join reads {id}/instanceView into observed.instanceView.
func (Hook) Join(ctx context.Context, _ hooks.Resource, read hooks.Reader) (map[string]any, error) {
	view, err := read.Get(ctx, instanceView)
	if err != nil {
		return nil, err
	}
	return map[string]any{instanceView: view}, nil
}

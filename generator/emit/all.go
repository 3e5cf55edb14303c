package emit

import (
	"fmt"

	"github.com/armature-dev/armature/generator/classify"
)

// All writes every file of the kinds, in no particular order.
func All(kinds []*classify.Result, o Options) ([]File, error) {
	var files []File
	add := func(f File, err error) error {
		if err == nil {
			files = append(files, f)
		}
		return err
	}
	for _, k := range kinds {
		for _, emit := range []func(*classify.Result, Options) (File, error){CRD, Sample, Reference} {
			if err := add(emit(k, o)); err != nil {
				return nil, fmt.Errorf("emitting %s: %w", k.Type, err)
			}
		}
	}
	for _, emit := range []func([]*classify.Result) (File, error){Catalog, Embed, Role} {
		if err := add(emit(kinds)); err != nil {
			return nil, err
		}
	}
	structs, err := Structs(kinds, o)
	return append(files, structs...), err
}

package emit

import "github.com/armature-dev/armature/generator/classify"

// Structs writes the Go packages.
func Structs(all []*classify.Result, o Options) ([]File, error) { return nil, nil }

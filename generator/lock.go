package generator

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/generator/swagger"
)

// SpecsLock pins upstream: which commit, which types at which versions, and
// the folders that these are described in.
type SpecsLock struct {
	Repository string       `json:"repository"`
	Commit     string       `json:"commit"`
	Types      []LockedType `json:"types"`
	Folders    []string     `json:"folders"`
}

// LockedType is a type and its version.
type LockedType struct {
	Type    string `json:"type"`
	Version string `json:"version"`
}

// KindLock pins the names of a kind: they are API.
type KindLock struct {
	Type       string   `json:"type"`
	Group      string   `json:"group"`
	Kind       string   `json:"kind"`
	Plural     string   `json:"plural"`
	ShortNames []string `json:"shortNames,omitempty"`
}

// Locks are what the generator is told beside upstream's files.
type Locks struct {
	Specs    SpecsLock
	Kinds    []KindLock
	Overlays []classify.Overlay
}

// ReadLocks reads specs.lock.yaml, kinds.lock.yaml and overlays/ from fsys.
func ReadLocks(fsys fs.FS) (Locks, error) {
	var l Locks
	for file, into := range map[string]any{"specs.lock.yaml": &l.Specs, "kinds.lock.yaml": &l.Kinds} {
		b, err := fs.ReadFile(fsys, file)
		if err != nil {
			return l, fmt.Errorf("reading lock file: %w", err)
		}
		if err := yaml.UnmarshalStrict(b, into); err != nil {
			return l, fmt.Errorf("reading %s: %w", file, err)
		}
	}
	files, err := fs.Glob(fsys, "overlays/*.yaml")
	if err != nil {
		return l, fmt.Errorf("reading overlays: %w", err)
	}
	slices.Sort(files)
	for _, file := range files {
		b, err := fs.ReadFile(fsys, file)
		if err != nil {
			return l, fmt.Errorf("reading overlays: %w", err)
		}
		list, err := classify.ReadOverlays(file, b)
		if err != nil {
			return l, err
		}
		l.Overlays = append(l.Overlays, list...)
	}
	return l, nil
}

// Refs are the locked types, as references.
func (l SpecsLock) Refs() []swagger.Ref {
	refs := make([]swagger.Ref, len(l.Types))
	for i, t := range l.Types {
		refs[i] = swagger.Ref{Type: t.Type, Version: t.Version}
	}
	return refs
}

// kind finds the pinned names of a type.
func (l Locks) kind(armType string) (KindLock, bool) {
	i := slices.IndexFunc(l.Kinds, func(k KindLock) bool { return strings.EqualFold(k.Type, armType) })
	if i < 0 {
		return KindLock{}, false
	}
	return l.Kinds[i], true
}

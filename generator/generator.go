// Package generator turns Azure's API descriptions into what Armature runs on,
// in three stages: swagger reads them, classify makes descriptors, emit writes
// files. It works offline.
package generator

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/generator/emit"
	"github.com/armature-dev/armature/generator/swagger"
)

// Input is what a run works on.
type Input struct {
	// Specs is the root of a checkout of azure-rest-api-specs.
	Specs fs.FS
	Locks Locks
	// Types to generate; All takes every type at its newest stable version.
	Types []swagger.Ref
	All   bool
	// Workers is how many API versions are read at a time; at least one.
	Workers int
	// Progress is told about each finished type; it may be nil.
	Progress func(done, total int, armType string)
}

// Output is what a run found.
type Output struct {
	// Kinds are the classified and named types, by ARM type.
	Kinds []*classify.Result
	// Folders are those of all files that were read.
	Folders     []string
	Diagnostics *swagger.Diagnostics
}

// Run reads and classifies. A type that fails is a diagnostic and missing in
// the output; an error means that nothing could be read at all.
func Run(in Input) (*Output, error) {
	out := &Output{Diagnostics: &swagger.Diagnostics{}}
	loader := swagger.NewLoader(in.Specs)
	index, err := swagger.NewIndex(loader, out.Diagnostics)
	if err != nil {
		return nil, err
	}
	if in.All {
		for _, t := range index.Types() {
			in.Types = append(in.Types, swagger.Ref{Type: t})
		}
	}
	found := find(in.Types, index, out.Diagnostics)
	run := &run{in: in, loader: loader, total: len(found), out: out}
	run.all(found)
	slices.SortFunc(out.Kinds, func(a, b *classify.Result) int {
		return strings.Compare(strings.ToLower(a.Type), strings.ToLower(b.Type))
	})
	out.Folders = loader.Folders()
	for _, k := range out.Kinds {
		k.Children = index.Children(k.Type)
	}
	out.Kinds = nameKinds(out.Kinds, in.Locks, out.Diagnostics)
	return out, nil
}

func find(refs []swagger.Ref, index *swagger.Index, ds *swagger.Diagnostics) []swagger.Found {
	var all []swagger.Found
	seen := map[string]bool{}
	for _, ref := range refs {
		f, err := index.Find(ref)
		if d, ok := err.(*swagger.Diagnostic); ok { //nolint:errorlint // Find's own, never wrapped
			ds.Add(*d)
			continue
		}
		if key := strings.ToLower(f.Type); !seen[key] {
			seen[key] = true
			all = append(all, f)
		}
	}
	return all
}

type run struct {
	in     Input
	loader *swagger.Loader
	total  int

	mu   sync.Mutex
	out  *Output
	done int
}

// all works through the API versions, each once.
func (r *run) all(found []swagger.Found) {
	folders := map[string][]swagger.Found{}
	var order []string
	for _, f := range found {
		if folders[f.Folder] == nil {
			order = append(order, f.Folder)
		}
		folders[f.Folder] = append(folders[f.Folder], f)
	}
	slices.Sort(order)
	work := make(chan []swagger.Found)
	var wg sync.WaitGroup
	for range max(1, r.in.Workers) {
		wg.Go(func() {
			for types := range work {
				r.folder(types)
			}
		})
	}
	for _, folder := range order {
		work <- folders[folder]
	}
	close(work)
	wg.Wait()
}

func (r *run) folder(types []swagger.Found) {
	ds := &swagger.Diagnostics{}
	space := swagger.NewSpace(r.loader, types[0].Folder, ds)
	defer space.Close()
	for _, f := range types {
		k := r.one(space, f, ds)
		r.mu.Lock()
		if k != nil {
			r.out.Kinds = append(r.out.Kinds, k)
		}
		r.done++
		if r.in.Progress != nil {
			r.in.Progress(r.done, r.total, f.Type)
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Diagnostics.Merge(ds)
}

// one resolves and classifies a type. A panic in there is a defect of ours,
// and still must not stop the other types.
func (r *run) one(space *swagger.Space, f swagger.Found, ds *swagger.Diagnostics) (k *classify.Result) {
	defer func() {
		if p := recover(); p != nil {
			k = nil
			ds.Add(swagger.Diagnostic{
				Severity: swagger.Error, Type: f.Type, File: f.Files[0], Message: fmt.Sprintf("expected a type that can be classified: %v", p),
				Hint: "this is a defect of the generator; please report it with the file",
			})
		}
	}()
	before := ds.Count(swagger.Error)
	res := space.Resource(f)
	if ds.Count(swagger.Error) > before {
		return nil
	}
	k = classify.Classify(res, r.in.Locks.Overlays, ds)
	if ds.Count(swagger.Error) > before {
		return nil
	}
	return k
}

// Emit writes all files. A kind that can't be written becomes a diagnostic and
// is left out.
func (o *Output) Emit(opts emit.Options) ([]emit.File, error) {
	names := emit.NamesOf(o.Kinds)
	var files []emit.File
	var written []*classify.Result
	for _, k := range o.Kinds {
		list, err := emit.Kind(k, names, opts)
		if err != nil {
			o.Diagnostics.Add(swagger.Diagnostic{
				Severity: swagger.Error, Type: k.Type, File: k.File, Pointer: k.Pointer, Message: "expected a type that can be written: " + err.Error(),
				Hint: "look for names or values in the file that YAML or Go can't spell",
			})
			continue
		}
		written = append(written, k)
		files = append(files, list...)
	}
	o.Kinds = written
	shared, err := emit.Shared(written, names)
	return append(files, shared...), err
}

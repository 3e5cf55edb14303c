package emit

import (
	"fmt"

	"github.com/armature-dev/armature/generator/classify"
)

// Names are the Go names of all kinds: what one of them may be called depends
// on the others.
type Names map[string]map[string]goKind

// NamesOf resolves the names of kinds that are emitted together.
func NamesOf(kinds []*classify.Result) Names {
	names := Names{}
	_, members := byGroup(kinds)
	for g, list := range members {
		names[g] = kindNames(list)
	}
	return names
}

// Kind writes the files of one kind. It fails for what can't be written, and
// never panics.
func Kind(r *classify.Result, names Names, o Options) (files []File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("emitting %s: %v", r.Type, p)
		}
	}()
	for _, emit := range []func() (File, error){
		func() (File, error) { return CRD(r, o) },
		func() (File, error) { return Sample(r, o) },
		func() (File, error) { return Reference(r, o) },
		func() (File, error) { return Structs(r, names[r.Group][r.Kind]) },
	} {
		f, err := emit()
		if err != nil {
			return nil, fmt.Errorf("emitting %s: %w", r.Type, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// Shared writes the files that are about all kinds.
func Shared(kinds []*classify.Result, names Names) ([]File, error) {
	files, err := registers(kinds, names)
	if err != nil {
		return nil, err
	}
	for _, emit := range []func([]*classify.Result) (File, error){Catalog, Embed, Role} {
		f, err := emit(kinds)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

package swagger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// Index tells which files describe which resource types, without reading
// more of them than their URLs.
type Index struct {
	loader *Loader
	types  map[string][]entry
	broken []*Diagnostic
}

// entry is one URL that a file offers a PUT for.
type entry struct {
	Route
	file, folder, version string
	preview               bool
}

var versionFolder = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-preview)?$`)

// NewIndex scans all files below the folder "specification". A file that
// can't be read becomes a diagnostic.
func NewIndex(l *Loader, ds *Diagnostics) (*Index, error) {
	x := &Index{loader: l, types: map[string][]entry{}}
	err := fs.WalkDir(l.fsys, "specification", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("reading the specs folder: %w", err)
		case d.IsDir() && d.Name() == "examples":
			return fs.SkipDir
		case d.IsDir() || path.Ext(p) != ".json":
			return nil
		}
		if folder, version := versionOf(p); folder != "" {
			x.scan(p, folder, version, ds)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New(`reading the specs folder: expected a folder "specification" in it, as in azure-rest-api-specs`)
	}
	return x, err
}

// versionOf is the folder of an API version that a file lies in.
func versionOf(file string) (folder, version string) {
	dir := path.Dir(file)
	for dir != "." && dir != "/" {
		if versionFolder.MatchString(path.Base(dir)) {
			return dir, path.Base(dir)
		}
		dir = path.Dir(dir)
	}
	return "", ""
}

func (x *Index) scan(file, folder, version string, ds *Diagnostics) {
	b, err := x.loader.bytes(file)
	if err == nil {
		err = x.paths(file, folder, version, b)
	}
	if d, ok := errors.AsType[*Diagnostic](err); ok {
		ds.Add(*d)
		x.broken = append(x.broken, d)
	}
}

func (x *Index) paths(file, folder, version string, b []byte) error {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
		Extra map[string]map[string]json.RawMessage `json:"x-ms-paths"` //nolint:tagliatelle // upstream's name
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return jsonDiagnostic(file, b, err)
	}
	for _, paths := range []map[string]map[string]json.RawMessage{doc.Paths, doc.Extra} {
		for template, methods := range paths {
			template, _, _ = strings.Cut(template, "?")
			r, ok := ParseRoute(template)
			if _, put := methods["put"]; !ok || !put {
				continue
			}
			key := strings.ToLower(r.Type)
			preview := strings.Contains(file, "/preview/") || strings.HasSuffix(version, "-preview")
			x.types[key] = append(x.types[key], entry{Route: r, file: file, folder: folder, version: version, preview: preview})
		}
	}
	return nil
}

// Types lists all types that have a stable version, in the spelling that
// their URLs use most.
func (x *Index) Types() []string {
	var names []string
	for key, entries := range x.types {
		if slices.ContainsFunc(entries, func(e entry) bool { return !e.preview }) {
			names = append(names, x.spell(key))
		}
	}
	sort.Strings(names)
	return names
}

// Children lists the types that lie directly in another.
func (x *Index) Children(armType string) []string {
	prefix := strings.ToLower(armType) + "/"
	var names []string
	for key := range x.types {
		if rest, ok := strings.CutPrefix(key, prefix); ok && !strings.Contains(rest, "/") {
			names = append(names, x.spell(key))
		}
	}
	sort.Strings(names)
	return names
}

func (x *Index) spell(key string) string {
	votes := map[string]int{}
	for _, e := range x.types[key] {
		votes[e.Type]++
	}
	best := ""
	for name, n := range votes {
		if best == "" || n > votes[best] || n == votes[best] && name < best {
			best = name
		}
	}
	return best
}

// Ref names a type at a version: what `type@version` means.
type Ref struct {
	Type, Version string
}

// String writes type@version.
func (r Ref) String() string {
	if r.Version == "" {
		return r.Type
	}
	return r.Type + "@" + r.Version
}

// ParseRef reads type[@version].
func ParseRef(s string) Ref {
	t, v, _ := strings.Cut(s, "@")
	return Ref{Type: t, Version: v}
}

// Found is a type that an Index knows, at one version.
type Found struct {
	Type, Version string
	// Folder is the version's folder; the files that describe the type lie in
	// it.
	Folder string
	Routes []Route
	Files  []string
}

// Find resolves a reference: the newest stable version where it names none.
// Its errors are *Diagnostic.
func (x *Index) Find(ref Ref) (Found, error) {
	entries := x.types[strings.ToLower(ref.Type)]
	if len(entries) == 0 {
		return Found{}, x.unknown(ref)
	}
	version := ref.Version
	if version == "" {
		for _, e := range entries {
			if !e.preview && e.version > version {
				version = e.version
			}
		}
	}
	here := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.version != version })
	if len(here) == 0 {
		return Found{}, x.noVersion(ref, entries)
	}
	slices.SortFunc(here, func(a, b entry) int { return strings.Compare(a.folder+a.file+a.Path, b.folder+b.file+b.Path) })
	f := Found{Type: x.spell(strings.ToLower(ref.Type)), Version: version, Folder: here[0].folder}
	seen := map[string]bool{}
	for _, e := range here {
		if e.folder != f.Folder || seen[bare(e.Path)] {
			continue
		}
		seen[bare(e.Path)] = true
		f.Routes = append(f.Routes, e.Route)
		f.Files = append(f.Files, e.file)
	}
	return f, nil
}

func (x *Index) unknown(ref Ref) error {
	d := &Diagnostic{Severity: Error, Type: ref.Type, Message: "expected a resource type that some file offers a PUT for, found none of this name"}
	if near := Nearest(ref.Type, x.Types()); near != "" {
		d.Hint = "did you mean " + near + "?"
	} else {
		d.Hint = "list what there is with: armature types list"
	}
	if len(x.broken) > 0 {
		d.Hint += fmt.Sprintf(" (%d files could not be read; it may be in one of these)", len(x.broken))
	}
	return d
}

func (x *Index) noVersion(ref Ref, entries []entry) error {
	var versions []string
	for _, e := range entries {
		versions = append(versions, e.version)
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	hint := "these specs have " + strings.Join(versions, ", ")
	if ref.Version == "" {
		return &Diagnostic{Severity: Error, Type: ref.Type, Message: "expected a stable version, found only previews", Hint: hint + "; choose one with type@version"}
	}
	return &Diagnostic{Severity: Error, Type: ref.Type, Message: "expected version " + ref.Version, Hint: hint}
}

package swagger

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-openapi/spec"
)

// Space resolves shapes as one API version sees them: the variants of a base
// and the bodies of resources are looked for in all files of its folder. It is
// not safe for concurrent use.
type Space struct {
	loader *Loader
	ds     *Diagnostics
	docs   []*Document
	memo   map[string]*Schema
	// children are the definitions that say allOf of another, by its key.
	children map[string][]target
	// bodies are the ARM types whose PUT takes a definition, by its key.
	bodies map[string][]string
}

// NewSpace reads all files of a version's folder. Files that can't be read
// become diagnostics.
func NewSpace(l *Loader, folder string, ds *Diagnostics) *Space {
	s := &Space{
		loader: l, ds: ds, memo: map[string]*Schema{},
		children: map[string][]target{}, bodies: map[string][]string{},
	}
	err := fs.WalkDir(l.fsys, folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "examples" {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(p) != ".json" {
			return nil
		}
		doc, err := l.Load(p)
		if err != nil {
			s.report(err)
			return nil
		}
		s.docs = append(s.docs, doc)
		return nil
	})
	if err != nil {
		s.ds.Fail(folder, "", hintRef, "expected a readable folder: %v", err)
	}
	for _, doc := range s.docs {
		s.inheritance(doc)
		s.putBodies(doc)
	}
	return s
}

// Close forgets the files of the folder.
func (s *Space) Close() {
	for _, d := range s.docs {
		s.loader.Forget(d.File)
	}
}

func (s *Space) report(err error) {
	s.ds.Add(*asDiagnostic(err))
}

// inheritance records who says allOf of whom.
func (s *Space) inheritance(doc *Document) {
	for _, name := range sortedKeys(doc.Swagger.Definitions) {
		def := doc.Swagger.Definitions[name]
		self := target{doc: doc, pointer: "/definitions/" + escape(name)}
		for i, base := range def.AllOf {
			if base.Ref.String() == "" {
				continue
			}
			at, _, err := s.loader.follow(doc, base.Ref, self.pointer+"/allOf/"+itoa(i))
			if err != nil {
				continue // told where the definition is used
			}
			s.children[at.key()] = append(s.children[at.key()], self)
		}
	}
}

// putBodies records which definitions are bodies of resources.
func (s *Space) putBodies(doc *Document) {
	for _, template := range sortedKeys(doc.paths) {
		item := doc.paths[template]
		r, ok := ParseRoute(template)
		if !ok || item.Put == nil {
			continue
		}
		pointer := "/paths/" + escape(template) + "/put"
		for i, p := range s.parameters(doc, item.Put.Parameters, pointer) {
			if p.In != "body" || p.Schema == nil || p.Schema.Ref.String() == "" {
				continue
			}
			at, _, err := s.loader.follow(p.doc, p.Schema.Ref, pointer+"/parameters/"+itoa(i)+"/schema")
			if err == nil && !slices.Contains(s.bodies[at.key()], r.Type) {
				s.bodies[at.key()] = append(s.bodies[at.key()], r.Type)
			}
		}
	}
}

// located is a parameter and the file that declares it.
type located struct {
	spec.Parameter

	doc *Document
}

// parameters resolves the $refs among parameters.
func (s *Space) parameters(doc *Document, list []spec.Parameter, pointer string) []located {
	var out []located
	for i, p := range list {
		from := doc
		for range maxRefs {
			if p.Ref.String() == "" {
				break
			}
			at, v, err := s.loader.follow(from, p.Ref, pointer+"/parameters/"+itoa(i))
			if err != nil {
				s.report(err)
				break
			}
			switch x := v.(type) {
			case *spec.Parameter:
				p, from = *x, at.doc
			case spec.Parameter:
				p, from = x, at.doc
			default:
				s.ds.Fail(doc.File, pointer+"/parameters/"+itoa(i), hintRef, "expected a reference to a parameter")
				p.Ref = spec.Ref{}
			}
		}
		out = append(out, located{Parameter: p, doc: from})
	}
	return out
}

// maxRefs bounds a chain of references to references.
const maxRefs = 32

// descendants are all definitions that inherit from key, directly or not.
func (s *Space) descendants(key string) []target {
	var all []target
	seen := map[string]bool{key: true}
	queue := []string{key}
	for len(queue) > 0 {
		for _, c := range s.children[queue[0]] {
			if !seen[c.key()] {
				seen[c.key()] = true
				all = append(all, c)
				queue = append(queue, c.key())
			}
		}
		queue = queue[1:]
	}
	slices.SortFunc(all, func(a, b target) int { return strings.Compare(a.key(), b.key()) })
	return all
}

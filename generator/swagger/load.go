package swagger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/go-openapi/loads"
	"github.com/go-openapi/spec"
)

// maxFile bounds a file; Azure's largest is about 1 MB.
const maxFile = 64 << 20

// Document is one swagger file.
type Document struct {
	// File is its path below the specs folder, with slashes.
	File    string
	Swagger *spec.Swagger
	// paths holds "paths" and "x-ms-paths".
	paths map[string]spec.PathItem
}

// Loader reads swagger files from a folder, each once. It may be used by
// several goroutines.
type Loader struct {
	fsys fs.FS
	mu   sync.Mutex
	docs map[string]*loading
	dirs map[string]bool
}

type loading struct {
	once sync.Once
	doc  *Document
	err  error
}

// NewLoader reads from fsys, the root of a specs checkout.
func NewLoader(fsys fs.FS) *Loader {
	return &Loader{fsys: fsys, docs: map[string]*loading{}, dirs: map[string]bool{}}
}

// Load reads one file. Its errors are *Diagnostic.
func (l *Loader) Load(file string) (*Document, error) {
	l.mu.Lock()
	e := l.docs[file]
	if e == nil {
		e = &loading{}
		l.docs[file] = e
		l.dirs[path.Dir(file)] = true
	}
	l.mu.Unlock()
	e.once.Do(func() { e.doc, e.err = l.read(file) })
	return e.doc, e.err
}

// Folders lists the folders of all files that were loaded so far.
func (l *Loader) Folders() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sortedKeys(l.dirs)
}

// Forget drops a file that is not needed any more.
func (l *Loader) Forget(file string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.docs, file)
}

func (l *Loader) read(file string) (_ *Document, err error) {
	b, err := l.bytes(file)
	if err != nil {
		return nil, err
	}
	defer func() {
		// The loader below is given whatever is in the file.
		if r := recover(); r != nil {
			err = &Diagnostic{Severity: Error, File: file, Message: fmt.Sprintf("expected a swagger 2.0 document: %v", r), Hint: hintSwagger}
		}
	}()
	loaded, err := loads.Analyzed(b, "")
	if err != nil {
		return nil, &Diagnostic{Severity: Error, File: file, Message: "expected a swagger 2.0 document: " + err.Error(), Hint: hintSwagger}
	}
	doc := &Document{File: file, Swagger: loaded.Spec(), paths: map[string]spec.PathItem{}}
	if doc.Swagger.Paths != nil {
		doc.paths = doc.Swagger.Paths.Paths
	}
	return doc, doc.addExtraPaths()
}

const (
	hintJSON    = "the file was cut short or edited by hand; restore it from the pinned commit (armature specs fetch)"
	hintSwagger = "only ARM's swagger 2.0 files can be read; convert other formats first"
	hintRef     = "the reference's file or definition is missing from this folder; fetch the whole folder (armature specs fetch), or mend the $ref"
)

// bytes reads a file and proves that it is JSON.
func (l *Loader) bytes(file string) ([]byte, error) {
	b, err := fs.ReadFile(l.fsys, file)
	if err != nil {
		return nil, &Diagnostic{Severity: Error, File: file, Message: "expected a readable file: " + err.Error(), Hint: hintRef}
	}
	if len(b) > maxFile {
		return nil, &Diagnostic{Severity: Error, File: file, Message: fmt.Sprintf("expected at most %d MB", maxFile>>20)}
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	var probe map[string]json.RawMessage
	if err := json.Unmarshal(b, &probe); err != nil {
		return nil, jsonDiagnostic(file, b, err)
	}
	return b, nil
}

func jsonDiagnostic(file string, b []byte, err error) error {
	d := &Diagnostic{Severity: Error, File: file, Message: "expected a JSON object: " + err.Error(), Hint: hintJSON}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := b[:min(int(syntax.Offset), len(b))]
		d.Pointer = fmt.Sprintf("%d:%d", 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'))
	}
	return d
}

// addExtraPaths adds x-ms-paths: URLs that swagger can't tell from others.
func (d *Document) addExtraPaths() error {
	extra, ok := d.Swagger.Extensions["x-ms-paths"]
	if !ok {
		return nil
	}
	b, err := json.Marshal(extra)
	if err != nil {
		return fmt.Errorf("reading x-ms-paths of %s: %w", d.File, err)
	}
	items := map[string]spec.PathItem{}
	if err := json.Unmarshal(b, &items); err != nil {
		return &Diagnostic{Severity: Error, File: d.File, Pointer: "/x-ms-paths", Message: "expected path items: " + err.Error()}
	}
	for k, v := range items {
		k, _, _ = strings.Cut(k, "?")
		if _, ok := d.paths[k]; !ok {
			d.paths[k] = v
		}
	}
	return nil
}

// target is where a $ref leads.
type target struct {
	doc     *Document
	pointer string
}

func (t target) key() string { return t.doc.File + "#" + t.pointer }

// name is the last token of the pointer.
func (t target) name() string {
	last := t.pointer[strings.LastIndexByte(t.pointer, '/')+1:]
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(last)
}

// follow resolves a $ref that stands in doc at pointer.
func (l *Loader) follow(doc *Document, ref spec.Ref, pointer string) (target, any, error) {
	fail := func(format string, args ...any) error {
		return &Diagnostic{Severity: Error, File: doc.File, Pointer: pointer + "/$ref", Message: fmt.Sprintf(format, args...), Hint: hintRef}
	}
	u := ref.GetURL()
	if u == nil || u.IsAbs() {
		return target{}, nil, fail("expected a reference to a local file, found %q", ref.String())
	}
	to := doc
	if u.Path != "" {
		file := path.Join(path.Dir(doc.File), u.Path)
		if !fs.ValidPath(file) {
			return target{}, nil, fail("expected a file inside the specs folder, found %q", ref.String())
		}
		var err error
		if to, err = l.Load(file); err != nil {
			var d *Diagnostic
			if errors.As(err, &d) && d.Pointer == "" {
				return target{}, nil, fail("expected %q to lead to a swagger file: %s", ref.String(), d.Message)
			}
			return target{}, nil, err
		}
	}
	at := target{doc: to, pointer: ref.GetPointer().String()}
	v, _, err := ref.GetPointer().Get(to.Swagger)
	if err != nil {
		return target{}, nil, fail("expected %q to exist in %s", at.pointer, to.File)
	}
	return at, v, nil
}

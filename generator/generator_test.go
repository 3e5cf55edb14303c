package generator_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-dev/armature/generator"
	"github.com/armature-dev/armature/generator/emit"
	"github.com/armature-dev/armature/generator/swagger"
)

var update = flag.Bool("update", false, "rewrite the golden folders")

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, types := range map[string][]swagger.Ref{
		"garden": nil,
		"broken": {
			{Type: "Contoso.Broken/fine"},
			{Type: "Contoso.Broken/fnie"},
			{Type: "Contoso.Broken/fine", Version: "1999-01-01"},
			{Type: "Contoso.Broken/moved"},
			{Type: "Contoso.Broken/missingDefinitions"},
			{Type: "Contoso.Broken/missingFiles"},
			{Type: "Contoso.Broken/outsides"},
			{Type: "Contoso.Broken/circles"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("testdata", name)
			out := run(t, dir, types)
			files, err := out.Emit(emit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join(dir, "want"), append(readable(t, files), diagnostics(out)))
		})
	}
}

func run(t *testing.T, dir string, types []swagger.Ref) *generator.Output {
	t.Helper()
	locks, err := generator.ReadLocks(os.DirFS(filepath.Join(dir, "locks")))
	if err != nil {
		t.Fatal(err)
	}
	out, err := generator.Run(generator.Input{Specs: os.DirFS(filepath.Join(dir, "specs")), Locks: locks, Types: types, All: types == nil, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// readable replaces the catalog by its indented JSON.
func readable(t *testing.T, files []emit.File) []emit.File {
	t.Helper()
	for i, f := range files {
		if filepath.Ext(f.Path) != ".gz" {
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(f.Content))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, b, "", " "); err != nil {
			t.Fatal(err)
		}
		files[i] = emit.File{Path: strings.TrimSuffix(f.Path, ".gz"), Content: indented.Bytes()}
	}
	return files
}

func diagnostics(out *generator.Output) emit.File {
	var b strings.Builder
	for _, d := range out.Diagnostics.Sorted() {
		b.WriteString(d.Error() + "\n")
	}
	return emit.File{Path: "diagnostics.txt", Content: []byte(b.String())}
}

func golden(t *testing.T, dir string, files []emit.File) {
	t.Helper()
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := generator.Write(dir, files); err != nil {
			t.Fatal(err)
		}
	}
	diffs, err := generator.Compare(dir, files)
	if err != nil {
		t.Fatal(err)
	}
	if len(diffs) == 0 {
		return
	}
	for _, f := range files {
		want, _ := os.ReadFile(filepath.Join(dir, f.Path))
		if d := cmp.Diff(string(want), string(f.Content)); d != "" {
			t.Errorf("%s (-want +got; rewrite with -update):\n%s", f.Path, d)
		}
	}
	t.Errorf("%d files differ: %v", len(diffs), diffs)
}

// TestTwiceTheSame runs the fixture twice: what is generated must not depend
// on the order of anything.
func TestTwiceTheSame(t *testing.T) {
	t.Parallel()
	emitAll := func() []emit.File {
		files, err := run(t, "testdata/garden", nil).Emit(emit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if d := cmp.Diff(emitAll(), emitAll()); d != "" {
		t.Error(d)
	}
}

func TestNoSpecsFolder(t *testing.T) {
	t.Parallel()
	_, err := generator.Run(generator.Input{Specs: os.DirFS(t.TempDir()), All: true})
	if err == nil || !strings.Contains(err.Error(), `expected a folder "specification"`) {
		t.Errorf("got %v", err)
	}
}

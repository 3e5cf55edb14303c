package generator_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-dev/armature/generator"
	"github.com/armature-dev/armature/generator/emit"
	"github.com/armature-dev/armature/generator/swagger"
)

// specs is the folder that SPECS names, or the one beside the repository.
func specs(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SPECS")
	if dir == "" {
		dir = "../../shared/azure-rest-api-specs"
	}
	if _, err := os.Stat(filepath.Join(dir, "specification")); err != nil {
		t.Skip("no specs: set SPECS to a checkout of azure-rest-api-specs, or fetch one with `make specs`")
	}
	return dir
}

func locks(t *testing.T) generator.Locks {
	t.Helper()
	l, err := generator.ReadLocks(os.DirFS("../swagger"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestCommitted proves that what is committed is what the generator writes.
func TestCommitted(t *testing.T) {
	t.Parallel()
	l := locks(t)
	out, err := generator.Run(generator.Input{Specs: os.DirFS(specs(t)), Locks: l, Types: l.Specs.Refs(), Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range out.Diagnostics.Sorted() {
		if d.Severity == swagger.Error {
			t.Error(d)
		}
	}
	files, err := out.Emit(emit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	diffs, err := generator.Compare("..", files)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diffs {
		t.Errorf("%s (run `go generate ./...`)", d)
	}
	for _, folder := range out.Folders {
		if !strings.Contains(strings.Join(l.Specs.Folders, "\n")+"\n", folder+"\n") {
			t.Errorf("swagger/specs.lock.yaml lacks the folder %s (run `armature specs lock`)", folder)
		}
	}
}

// TestCorpus takes every type of the specs through all stages, and looks for
// those that the corpus's own inventory names.
func TestCorpus(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds and the whole corpus")
	}
	dir := specs(t)
	out, err := generator.Run(generator.Input{Specs: os.DirFS(dir), Locks: locks(t), All: true, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range out.Diagnostics.Sorted() {
		if d.Severity == swagger.Error {
			t.Error(d)
		}
	}
	if _, err := out.Emit(emit.Options{}); err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, k := range out.Kinds {
		have[strings.ToLower(k.Type)] = k.APIVersion
	}
	b, err := os.ReadFile(filepath.Join(dir, "inventory.tsv"))
	if err != nil {
		t.Logf("%d types; no inventory to compare with", len(have))
		return
	}
	n := 0
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		cols := strings.Split(s.Text(), "\t")
		if cols[0] == "type" {
			continue
		}
		n++
		if v := have[strings.ToLower(cols[0])]; v != cols[1] {
			t.Errorf("%s: got version %q, the inventory has %s", cols[0], v, cols[1])
		}
	}
	t.Logf("%d types, %d in the inventory", len(have), n)
}

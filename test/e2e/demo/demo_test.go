package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/armature-dev/armature/test/e2e/env"
)

// TestDemo runs the ten steps against a real control plane and the simulator:
// the end-to-end test of everything.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it needs bin/armature and bin/kubeplane, which `make test` builds")
	}
	if err := run(t.Context(), "bin/armature", "build/test-demo.json", false); err != nil {
		t.Fatal(err)
	}
}

// TestPlantedFaults builds the manager with a fault in it, and expects the
// step that is there to notice it to fail: a test of the test.
func TestPlantedFaults(t *testing.T) {
	if os.Getenv("ARMATURE_TEST_FAULTS") == "" {
		t.Skip("set ARMATURE_TEST_FAULTS=1, or run `make test-faults`: it takes minutes")
	}
	root, err := env.Root()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "plantedfaults", "-o", filepath.Join(root, "bin/armature-faulty"), "./cmd/armature")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building with planted faults: %v\n%s", err, out)
	}
	for fault, red := range map[string]string{
		"put-from-spec": "comanaged",
		"no-if-match":   "comanaged",
		// What ARM never shows can't be compared, so the password is sent for
		// ever.
		"late-journal": "apply",
		"no-claim":     "adopt",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Setenv("ARMATURE_PLANT_FAULT", fault)
			d := &demo{root: root, dir: t.TempDir(), binary: filepath.Join(root, "bin/armature-faulty")}
			t.Cleanup(d.stop)
			r := d.walk(t.Context(), d.steps())
			if last := r.Steps[len(r.Steps)-1]; r.OK || last.Name != red {
				d.tail()
				t.Fatalf("with %s planted, expected step %s to fail; the last step was %+v", fault, red, last)
			}
		})
	}
}

package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

func TestVet(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "vet", "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("go vet: %v\n%s", err, out)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args    string
		program string
		rest    string
	}{
		"by symlink":           {"/assets/kubectl get pods", "kubectl", "/assets/kubectl get pods"},
		"by argument":          {"bin/kubeplane dev --port 1", "dev", "dev --port 1"},
		"kubectl by argument":  {"kubeplane kubectl version", "kubectl", "kubectl version"},
		"nothing":              {"kubeplane", "", ""},
		"symlink has no words": {"etcd", "etcd", "etcd"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, args := resolve(strings.Fields(test.args))
			if got := strings.Join(args, " "); program != test.program || got != test.rest {
				t.Errorf("resolve(%q) = %q, %q; want %q, %q", test.args, program, got, test.program, test.rest)
			}
		})
	}
}

func TestUnknownProgram(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run([]string{"kubeplane", "scheduler"}, &stdout, &stderr); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
	if !strings.Contains(stderr.String(), "programs:") || stdout.Len() > 0 {
		t.Errorf("stdout %q, stderr %q", &stdout, &stderr)
	}
}

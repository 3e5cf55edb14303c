package generator_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-dev/armature/generator"
)

func TestFetch(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	repo := t.TempDir()
	for _, f := range []string{"specification/a/stable/a.json", "specification/a/stable/examples/e.json", "specification/b/b.json"} {
		path := filepath.Join(repo, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) string {
		c := exec.CommandContext(t.Context(), "git", append([]string{"-C", repo, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "-m", "specs")
	pinned := git("rev-parse", "HEAD")
	git("rm", "--quiet", "-r", "specification/a")
	git("commit", "--quiet", "-m", "later")
	git("config", "uploadpack.allowFilter", "true")
	git("config", "uploadpack.allowAnySHA1InWant", "true")

	lock := generator.SpecsLock{Repository: "file://" + repo, Commit: pinned, Folders: []string{"specification/a/stable"}}
	dir := filepath.Join(t.TempDir(), "specs")
	for range 2 { // again is no harm
		if err := generator.Fetch(t.Context(), lock, dir); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]bool{
		"specification/a/stable/a.json": true, "specification/a/stable/examples/e.json": false, "specification/b/b.json": false,
	} {
		if _, err := os.Stat(filepath.Join(dir, file)); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", file, err == nil, want)
		}
	}

	lock.Commit = strings.Repeat("0", 40)
	if err := generator.Fetch(t.Context(), lock, filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), "git fetch") {
		t.Errorf("a commit that isn't there: got %v", err)
	}
	if err := generator.Fetch(t.Context(), generator.SpecsLock{}, dir); err == nil {
		t.Error("an empty lock: got no error")
	}
}

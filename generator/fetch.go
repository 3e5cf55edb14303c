package generator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Fetch brings the locked commit's files of the locked folders to dir: a
// shallow, blob-less, sparse git fetch. A folder that has them already is left
// as it is. It needs git, and the network unless the repository is local.
func Fetch(ctx context.Context, lock SpecsLock, dir string) error {
	if lock.Repository == "" || lock.Commit == "" || len(lock.Folders) == 0 {
		return errors.New("fetching specs: expected a repository, a commit and folders in specs.lock.yaml")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // sources are for everybody to read
		return fmt.Errorf("fetching specs: %w", err)
	}
	var patterns strings.Builder
	for _, f := range lock.Folders {
		patterns.WriteString("/" + strings.Trim(f, "/") + "/*\n")
	}
	patterns.WriteString("!examples/\n")
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"config", "remote.origin.url", lock.Repository},
		{"config", "remote.origin.promisor", "true"},
		{"config", "remote.origin.partialclonefilter", "blob:none"},
		{"config", "core.sparseCheckout", "true"},
	} {
		if err := git(ctx, dir, args...); err != nil {
			return err
		}
	}
	sparse := filepath.Join(dir, ".git", "info", "sparse-checkout")
	if err := os.MkdirAll(filepath.Dir(sparse), 0o755); err != nil { //nolint:gosec // as git makes it
		return fmt.Errorf("fetching specs: %w", err)
	}
	if err := os.WriteFile(sparse, []byte(patterns.String()), 0o644); err != nil { //nolint:gosec // as git makes it
		return fmt.Errorf("fetching specs: %w", err)
	}
	if git(ctx, dir, "cat-file", "-e", lock.Commit+"^{commit}") != nil {
		if err := git(ctx, dir, "fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", lock.Commit); err != nil {
			return err
		}
	}
	return git(ctx, dir, "checkout", "--quiet", "--force", "--detach", lock.Commit)
}

func git(ctx context.Context, dir string, args ...string) error {
	c := exec.CommandContext(ctx, "git", args...) //nolint:gosec // git with arguments of our own and the lock's
	c.Dir = dir
	// A folder of ours never asks for a password, nor is it the repository
	// that a hook runs in.
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GIT_DIR=") && !strings.HasPrefix(e, "GIT_WORK_TREE=") && !strings.HasPrefix(e, "GIT_INDEX_FILE=") {
			c.Env = append(c.Env, e)
		}
	}
	c.Env = append(c.Env, "GIT_TERMINAL_PROMPT=0")
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("fetching specs: git %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

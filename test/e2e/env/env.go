// Package env gives tests and the demo a real Kubernetes API server.
//
// By default it is bin/kubeplane, built by `make controlplane`. A user's own is
// honoured: ARMATURE_USE_EXISTING_CLUSTER=true takes the cluster of KUBECONFIG,
// and KUBEBUILDER_ASSETS the binaries of that folder.
package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The environment variables that choose the API server.
const (
	existingClusterVariable = "ARMATURE_USE_EXISTING_CLUSTER"
	assetsVariable          = "KUBEBUILDER_ASSETS"
)

const module = "github.com/armature-dev/armature"

// Options of Start. The zero value is good.
type Options struct {
	// Dir is an existing folder for the kubeconfig; "" means a temporary one,
	// which Stop removes.
	Dir string
	// Log receives the output of child processes; nil drops it.
	Log io.Writer
}

// ControlPlane is a running API server, with its namespaces emptied and its
// owned objects collected when they should be. Stop must be called.
type ControlPlane struct {
	// Kubeconfig is the path of a cluster administrator's kubeconfig that needs
	// no other file.
	Kubeconfig string
	// Kubectl is the path of a kubectl binary.
	Kubectl string

	config *rest.Config
	once   sync.Once
	stops  []func()
}

// Start returns when the API server is ready. Everything that it started is
// stopped when Stop is called or ctx ends, whichever comes first; a cluster of
// the user's own is left as it is. After an error nothing is left running.
func Start(ctx context.Context, opts Options) (*ControlPlane, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	c := &ControlPlane{}
	if err := c.start(ctx, opts); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Config returns a copy of the administrator's client configuration, without
// client-side rate limits.
func (c *ControlPlane) Config() *rest.Config {
	return rest.CopyConfig(c.config)
}

// Stop stops what Start started and removes its temporary files. It waits for
// both, and may be called more than once.
func (c *ControlPlane) Stop() {
	c.once.Do(func() {
		for _, stop := range slices.Backward(c.stops) {
			stop()
		}
	})
}

func (c *ControlPlane) start(ctx context.Context, opts Options) error {
	root, err := Root()
	if err != nil {
		return err
	}
	dir := opts.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "armature-env-"); err != nil {
			return fmt.Errorf("making a folder for the kubeconfig: %w", err)
		}
		c.stops = append(c.stops, func() { _ = os.RemoveAll(dir) })
	}
	c.Kubeconfig = filepath.Join(dir, "kubeconfig")
	bin := filepath.Join(root, "bin")
	assets := os.Getenv(assetsVariable)
	switch {
	case os.Getenv(existingClusterVariable) == "true":
		err = c.useExisting()
	case assets != "":
		err = c.startEnvtest(ctx, bin, assets, opts.Log)
	default:
		err = c.startKubeplane(ctx, bin, opts.Log)
	}
	if err != nil {
		return err
	}
	if c.Kubectl, err = findKubectl(assets, bin); err != nil {
		return err
	}
	return c.loadConfig()
}

func (c *ControlPlane) loadConfig() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return fmt.Errorf("reading kubeconfig %s: %w", c.Kubeconfig, err)
	}
	config.QPS = -1
	c.config = config
	return nil
}

// findKubectl looks for kubectl in folders, then in PATH.
func findKubectl(folders ...string) (string, error) {
	for _, folder := range folders {
		path := filepath.Join(folder, "kubectl")
		if _, err := os.Stat(path); folder != "" && err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("kubectl")
	if err != nil {
		return "", errors.New("no kubectl in bin/ or PATH: run `make controlplane`")
	}
	return path, nil
}

// Root returns the absolute path of this repository: the nearest folder, from
// the working directory upwards, with the go.mod of the main module. Nested
// modules are passed over.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("finding the repository: %w", err)
		}
		if line, _, _ := strings.Cut(string(content), "\n"); strings.TrimSpace(line) == "module "+module {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod of %s in %s or above it: run this inside the repository", module, start)
		}
	}
}

package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// startKubeplane runs a whole control plane as a child process.
func (c *ControlPlane) startKubeplane(ctx context.Context, bin string, log io.Writer) error {
	binary, err := kubeplane(bin)
	if err != nil {
		return err
	}
	child, err := startChild(ctx, log, binary, "dev", "--kubeconfig", c.Kubeconfig)
	if err != nil {
		return err
	}
	c.stops = append(c.stops, child.stop)
	return child.waitReady(ctx)
}

// startEnvtest runs the etcd and kube-apiserver of the folder assets. They come
// without controllers, so kubeplane adds its own, if it has been built.
func (c *ControlPlane) startEnvtest(ctx context.Context, bin, assets string, log io.Writer) error {
	server := &envtest.Environment{BinaryAssetsDirectory: assets}
	if _, err := server.Start(); err != nil {
		return fmt.Errorf("starting the API server of %s=%s: %w", assetsVariable, assets, err)
	}
	c.stops = append(c.stops, func() {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(log, "stopping the API server:", err)
		}
	})
	if err := os.WriteFile(c.Kubeconfig, server.KubeConfig, 0o600); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	binary, err := kubeplane(bin)
	if err != nil {
		fmt.Fprintln(log, "deleted namespaces will stay in Terminating:", err)
		return nil
	}
	child, err := startChild(ctx, log, binary, "controllers", "--kubeconfig", c.Kubeconfig)
	if err != nil {
		return err
	}
	c.stops = append(c.stops, child.stop)
	return child.waitReady(ctx)
}

// useExisting writes the current context of the user's kubeconfig, alone and
// with its files embedded, so that a later switch of theirs changes nothing.
func (c *ControlPlane) useExisting() error {
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	if err != nil {
		return fmt.Errorf("reading the user's kubeconfig: %w", err)
	}
	if _, ok := config.Contexts[config.CurrentContext]; !ok {
		return fmt.Errorf("%s=true, but KUBECONFIG has no current context: choose one with `kubectl config use-context`",
			existingClusterVariable)
	}
	if err := errors.Join(clientcmdapi.MinifyConfig(config), clientcmdapi.FlattenConfig(config)); err != nil {
		return fmt.Errorf("reading the user's kubeconfig: %w", err)
	}
	if err := clientcmd.WriteToFile(*config, c.Kubeconfig); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	c.stops = append(c.stops, func() { _ = os.Remove(c.Kubeconfig) })
	return nil
}

// kubeplane returns the path of the binary in the folder bin.
func kubeplane(bin string) (string, error) {
	path := filepath.Join(bin, "kubeplane")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no %s: run `make controlplane`", path)
	} else if err != nil {
		return "", fmt.Errorf("looking for the control plane: %w", err)
	}
	return path, nil
}

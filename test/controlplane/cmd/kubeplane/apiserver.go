package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

const (
	apiserverTimeout = 2 * time.Minute
	pollInterval     = 50 * time.Millisecond
)

// apiserver is a kube-apiserver in this process.
type apiserver struct {
	// config is a cluster administrator's.
	config *rest.Config
	// done receives one value when the server has stopped.
	done <-chan error
}

// startAPIServer starts a kube-apiserver with its files under dir and returns
// when it is ready. It listens on a free port of 127.0.0.1 where port is 0, and
// stops when ctx ends.
func startAPIServer(ctx context.Context, dir, etcdURL string, port int) (*apiserver, error) {
	if port == 0 {
		ports, err := freePorts(1)
		if err != nil {
			return nil, err
		}
		port = ports[0]
	}
	token := rand.Text()
	files, err := writeAPIServerFiles(dir, token)
	if err != nil {
		return nil, err
	}
	completed, err := completeOptions(ctx, []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + filepath.Join(dir, "pki"),
		"--token-auth-file=" + files.tokens,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://127.0.0.1",
		"--service-account-key-file=" + files.signingKey,
		"--service-account-signing-key-file=" + files.signingKey,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",
		// Pods never run here, so nothing waits for their accounts' tokens.
		"--disable-admission-plugins=ServiceAccount",
	})
	if err != nil {
		return nil, fmt.Errorf("configuring kube-apiserver: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Run(ctx, completed) }()
	server := &apiserver{
		config: &rest.Config{
			Host:            fmt.Sprintf("https://127.0.0.1:%d", port),
			BearerToken:     token,
			TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(dir, "pki", "apiserver.crt")},
		},
		done: done,
	}
	return server, server.waitReady(ctx)
}

type apiserverFiles struct{ tokens, signingKey string }

// writeAPIServerFiles writes the key that signs service-account tokens, and
// the one user: token is an administrator's.
func writeAPIServerFiles(dir, token string) (apiserverFiles, error) {
	files := apiserverFiles{tokens: filepath.Join(dir, "tokens.csv"), signingKey: filepath.Join(dir, "sa.key")}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return files, fmt.Errorf("making a signing key: %w", err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	if err := os.WriteFile(files.signingKey, pem.EncodeToMemory(block), 0o600); err != nil {
		return files, fmt.Errorf("writing the signing key: %w", err)
	}
	if err := os.WriteFile(files.tokens, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return files, fmt.Errorf("writing the token file: %w", err)
	}
	return files, nil
}

// completeOptions does what kube-apiserver's command does between its command
// line and Run.
func completeOptions(ctx context.Context, args []string) (options.CompletedOptions, error) {
	opts := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range opts.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		return options.CompletedOptions{}, err
	}
	opts.Flagz = nil // /flagz would need the command's own flag sets
	if err := opts.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return options.CompletedOptions{}, err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	completed, err := opts.Complete(ctx)
	if err != nil {
		return options.CompletedOptions{}, err
	}
	return completed, errors.Join(completed.Validate()...)
}

// waitReady returns when /readyz says so, or an error when the server stopped
// instead, or when it took longer than apiserverTimeout.
func (s *apiserver) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, apiserverTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for !s.ready(ctx) {
		select {
		case err := <-s.done:
			return fmt.Errorf("running kube-apiserver: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("waiting for kube-apiserver: %w", ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// ready asks /readyz once. The server writes its own certificate first, so
// until then there is nothing to trust and the answer is no.
func (s *apiserver) ready(ctx context.Context) bool {
	client, err := rest.HTTPClientFor(s.config)
	if err != nil {
		return false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.config.Host+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

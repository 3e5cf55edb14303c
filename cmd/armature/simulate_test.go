package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// simulateUntilReady runs the command and hands out what it prints until it is ready.
func simulateUntilReady(ctx context.Context, t *testing.T, args ...string) (printed []string, done <-chan error) {
	t.Helper()
	r, w := io.Pipe()
	c := newSimulateCommand() //nolint:contextcheck // cobra hands the context on
	c.SetArgs(args)
	c.SetOut(w)
	result := make(chan error, 1)
	go func() {
		err := c.ExecuteContext(ctx)
		_ = w.CloseWithError(io.EOF)
		result <- err
	}()
	for in := bufio.NewScanner(r); in.Scan(); {
		printed = append(printed, in.Text())
		if strings.HasPrefix(in.Text(), "ready ") {
			break
		}
	}
	return printed, result
}

func TestSimulate(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	ca := filepath.Join(t.TempDir(), "ca.pem")
	printed, done := simulateUntilReady(ctx, t, "--ca-out", ca, "--print-env", "--client-id", "me", "--subscription", "s1")
	text := strings.Join(printed, "\n")
	for _, want := range []string{`export AZURE_CLIENT_ID="me"`, `export AZURE_SUBSCRIPTION_ID="s1"`, "export AZURE_AUTHORITY_HOST=", `--arm-ca-file="` + ca + `"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	_, url, _ := strings.Cut(printed[len(printed)-1], "url=")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/_armature/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close() != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
	client.CloseIdleConnections()
	stop()
	if err := <-done; err != nil {
		t.Errorf("stopped with %v", err)
	}
}

func TestSimulateOnATakenPort(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	taken, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, done := simulateUntilReady(t.Context(), t, "--listen", taken.Addr().String())
	if err := <-done; !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("got %v", err)
	}
}

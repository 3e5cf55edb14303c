package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// azure is the simulator's side door: what others do in Azure, and what ARM
// received.
type azure struct {
	url  string
	http *http.Client
}

func newAzure(base, caFile string) (*azure, error) {
	pem, err := os.ReadFile(filepath.Clean(caFile))
	if err != nil {
		return nil, fmt.Errorf("reading the simulator's certificate: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("reading the simulator's certificate: no PEM")
	}
	return &azure{url: base, http: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}}, nil
}

// call is one request that ARM received.
type call struct {
	Seq     int               `json:"seq"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
	Status  int               `json:"status"`
}

func (c call) String() string {
	s := fmt.Sprintf("%s …/%s → %d", c.Method, tailOf(c.Path, 3), c.Status)
	if m := c.Headers["If-Match"]; m != "" {
		s += " If-Match: " + m
	}
	if len(c.Body) > 0 && len(c.Body) < 300 {
		s += " " + string(c.Body)
	}
	return s
}

func tailOf(path string, n int) string {
	parts := strings.Split(path, "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}

// get reads a resource; nil where there is none.
func (a *azure) get(ctx context.Context, id string) (map[string]any, error) {
	var m map[string]any
	status, err := a.do(ctx, http.MethodGet, "/_armature/resource?id="+url.QueryEscape(id), nil, &m)
	if status == http.StatusNotFound {
		return nil, nil
	}
	return m, err
}

// change does what somebody else does in Azure: it merges into a resource, or
// makes one.
func (a *azure) change(ctx context.Context, id string, patch map[string]any) error {
	say("   somebody else in Azure: %s %s", tailOf(id, 2), compact(patch))
	_, err := a.do(ctx, http.MethodPut, "/_armature/resource?id="+url.QueryEscape(id), patch, nil)
	return err
}

// writes lists what was written below an ID since a journal position.
func (a *azure) writes(ctx context.Context, id string, since int) ([]call, error) {
	var all []call
	if _, err := a.do(ctx, http.MethodGet, "/_armature/journal?method=PUT,PATCH,DELETE", nil, &all); err != nil {
		return nil, err
	}
	var found []call
	for _, c := range all {
		if c.Seq > since && strings.HasPrefix(strings.ToLower(c.Path)+"/", strings.ToLower(id)+"/") && !strings.Contains(c.Path, "/_armature/") {
			found = append(found, c)
		}
	}
	return found, nil
}

func (a *azure) position(ctx context.Context) (int, error) {
	var all []call
	if _, err := a.do(ctx, http.MethodGet, "/_armature/journal", nil, &all); err != nil {
		return 0, err
	}
	last := 0
	for _, c := range all {
		last = max(last, c.Seq)
	}
	return last, nil
}

func (a *azure) do(ctx context.Context, method, path string, body, into any) (int, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return 0, fmt.Errorf("writing a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(b))
	if err != nil {
		return 0, fmt.Errorf("making a request: %w", err)
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("asking the simulator: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, fmt.Errorf("reading the simulator's answer: %w", err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return resp.StatusCode, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	if into == nil || len(text) == 0 {
		return resp.StatusCode, nil
	}
	return resp.StatusCode, json.Unmarshal(text, into)
}

// at follows property names; nil where they lead nowhere.
func at(v any, names ...string) any {
	for _, n := range names {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[n]
	}
	return v
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

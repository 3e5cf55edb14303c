package armclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/armature-dev/armature/pkg/arm"
)

// Options bend a Client. The zero value is complete.
type Options struct {
	// Version is the program's, for the User-Agent.
	Version string
	// Principal names whose budgets the calls use up: the same for two
	// clients of one login that share a Limiter.
	Principal string
	// Limiter is shared between clients; nil for one of its own with ARM's
	// budgets.
	Limiter *Limiter
	// Observer is told of every call on the wire; it must not block.
	Observer func(CallInfo)
	// Transport replaces the network: for tests and recordings.
	Transport http.RoundTripper
	// NoRegistration leaves providers unregistered.
	NoRegistration bool
}

// Client calls ARM as one principal. It is safe for concurrent use.
type Client struct {
	base      *url.URL
	pipeline  runtime.Pipeline
	register  *registrar
	principal string
}

// New makes a client. It contacts nobody. A nil cred sends no token.
func New(cloud Cloud, cred azcore.TokenCredential, opts Options) (*Client, error) {
	base, err := cloud.base()
	if err != nil {
		return nil, err
	}
	t := opts.Transport
	if t == nil {
		if t, err = cloud.transport(); err != nil {
			return nil, err
		}
	}
	if opts.Limiter == nil {
		opts.Limiter = NewLimiter(DefaultBudgets())
	}
	c := &Client{base: base, principal: opts.Principal}
	c.pipeline = newPipeline(base, cloud, cred, t, opts)
	if !opts.NoRegistration {
		c.register = &registrar{client: c}
	}
	return c, nil
}

// String names endpoint and principal; nothing of the login.
func (c *Client) String() string { return fmt.Sprintf("ARM client of %s as %s", c.base, c.principal) }

// GoString is String.
func (c *Client) GoString() string { return c.String() }

// Request is one call.
type Request struct {
	Method string
	// Path is an ARM ID and what follows it, as the ID spells it: it is
	// escaped here.
	Path       string
	APIVersion string
	Query      map[string]string
	// Body is anything that encoding/json writes; nil for none.
	Body        any
	IfMatch     string
	IfNoneMatch string
	// FinalState is final-state-via, as the specification says; "" for none.
	// Only a POST's Result heeds it.
	FinalState string
	// Background marks a read that can wait (a refresh): it leaves a part of
	// the budget to others.
	Background bool
}

// Response is a successful answer.
type Response struct {
	Status int
	Header http.Header
	// Body holds json.Number for numbers. It is nil where the answer is empty
	// or no object.
	Body map[string]any
	// ETag comes from the header or the body; "" where there is none.
	ETag string
	// RetryAfter is 0 where the header is missing.
	RetryAfter time.Duration
	// PollResource is true where a write goes on and nothing tells of its end
	// but the resource itself: there is no poll URL, or only one on another
	// host.
	PollResource bool
}

// Do makes one call and reads the answer. Every error is a *CallError: with an
// *arm.Error inside for a refusal, else with what kept the call from being
// answered. Writes are sent once; reads are repeated once, soon, after a
// server error. A 2xx whose body isn't JSON is an error for reads alone.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	_, resp, err := c.do(ctx, r)
	return resp, err
}

func (c *Client) do(ctx context.Context, r Request) (*http.Response, *Response, error) {
	req, err := c.request(ctx, r)
	if err != nil {
		return nil, nil, &CallError{Method: r.Method, Path: r.Path, err: err}
	}
	raw, body, err := c.send(req)
	if err == nil {
		var resp *Response
		if resp, err = read(raw, body); err == nil {
			return raw, resp, nil
		}
		err = broken(r.Method, r.Path, err)
	}
	return raw, nil, c.register.on(ctx, r, err)
}

// send sends req and reads the whole answer; one that is no success is an
// error.
func (c *Client) send(req *policy.Request) (*http.Response, []byte, error) {
	method, path := req.Raw().Method, req.Raw().URL.Path
	raw, err := c.pipeline.Do(req)
	if err != nil {
		return nil, nil, broken(method, path, err)
	}
	body, err := runtime.Payload(raw)
	if err != nil {
		return nil, nil, broken(method, path, fmt.Errorf("reading the answer: %w", err))
	}
	if raw.StatusCode < 200 || raw.StatusCode > 299 {
		return raw, nil, refused(req.Raw(), raw, body)
	}
	return raw, body, nil
}

func (c *Client) request(ctx context.Context, r Request) (*policy.Request, error) {
	u, err := c.url(r)
	if err != nil {
		return nil, err
	}
	req, err := runtime.NewRequest(withCall(ctx, call{background: r.Background}), r.Method, u)
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	h := req.Raw().Header
	h.Set("Accept", "application/json")
	if r.IfMatch != "" {
		h.Set("If-Match", r.IfMatch)
	}
	if r.IfNoneMatch != "" {
		h.Set("If-None-Match", r.IfNoneMatch)
	}
	if r.Body == nil {
		return req, nil
	}
	b, err := json.Marshal(r.Body)
	if err != nil {
		return nil, fmt.Errorf("writing the body: %w", err)
	}
	if err := req.SetBody(streaming.NopCloser(bytes.NewReader(b)), "application/json"); err != nil {
		return nil, fmt.Errorf("writing the body: %w", err)
	}
	return req, nil
}

var errPath = errors.New(`expected a path that starts with one "/" and has no empty, "." or ".." segment`)

func (c *Client) url(r Request) (string, error) {
	rest, ok := strings.CutPrefix(r.Path, "/")
	if !ok {
		return "", fmt.Errorf("making a request of %q: %w", r.Path, errPath)
	}
	segments := strings.Split(rest, "/")
	if slices.ContainsFunc(segments, func(s string) bool { return s == "" || s == "." || s == ".." }) {
		return "", fmt.Errorf("making a request of %q: %w", r.Path, errPath)
	}
	u := *c.base
	u.Path += r.Path
	q := url.Values{}
	if r.APIVersion != "" {
		q.Set("api-version", r.APIVersion)
	}
	for k, v := range r.Query {
		q.Set(k, v)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func read(raw *http.Response, body []byte) (*Response, error) {
	r := &Response{Status: raw.StatusCode, Header: raw.Header, RetryAfter: retryAfter(raw.Header), ETag: raw.Header.Get("ETag")}
	m, err := decode(body)
	if err != nil && raw.Request.Method == http.MethodGet {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	r.Body = m
	if e, ok := m["etag"].(string); ok && r.ETag == "" {
		r.ETag = e
	}
	return r, nil
}

// decode reads a JSON object; anything else that is JSON gives nil.
func decode(body []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("expected JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("expected one JSON document, found more behind it")
	}
	m, _ := v.(map[string]any)
	return m, nil
}

// retryAfter reads seconds or a date, and azcore's two headers in
// milliseconds; 0 where there is none, or one in the past.
func retryAfter(h http.Header) time.Duration {
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if n, err := strconv.ParseInt(h.Get(name), 10, 32); err == nil && n > 0 {
			return time.Duration(n) * time.Millisecond
		}
	}
	v := h.Get(arm.HeaderRetryAfter)
	if n, err := strconv.ParseInt(v, 10, 32); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(time.Until(t), 0)
	}
	return 0
}

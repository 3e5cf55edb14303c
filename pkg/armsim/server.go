// Package armsim is Azure Resource Manager in one process: every type of a
// catalog, with ARM's envelope, long-running operations, errors, tokens and
// limits. What a type can do is read from its descriptor alone.
package armsim

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/resource"
)

// Options say how the simulator behaves. The zero value is usable.
type Options struct {
	// OperationDuration is how long an operation runs; 0 ends it at once.
	OperationDuration time.Duration
	// RetryAfter is what answers ask clients to wait, in whole seconds;
	// 0 is one second.
	RetryAfter time.Duration
	// Subscriptions are those that exist; empty: any does.
	Subscriptions []string
	// TenantID is the one tenant that issues tokens; "": any does.
	TenantID string
	// Clock gives the time; nil is time.Now.
	Clock func() time.Time
	// NoRateLimits answers any number of requests; RateLimits says how many
	// otherwise.
	NoRateLimits bool
	RateLimits   RateLimits
	// ClientID and ClientSecret are the only ones that log in; "": any does.
	ClientID, ClientSecret string
	// OperationPolls ends an operation when it, or its resource, has been
	// asked for so often. With 0 time alone ends it; otherwise
	// OperationDuration, where it is not 0, ends it as well.
	OperationPolls int
	// PageSize is how many items a list's page holds; 0 is 1000. EmptyPages
	// begins lists with an empty page, which ARM allows.
	PageSize   int
	EmptyPages bool
	// CheckReferences refuses bodies that name a resource which is not there,
	// or is still being created, if the catalog knows its type and the service
	// is one that looks.
	CheckReferences bool
	// Unregistered are provider namespaces that subscriptions have to
	// register first.
	Unregistered []string
}

// Server simulates ARM. It is safe for concurrent use.
type Server struct {
	opts     Options
	catalog  *resource.Catalog
	key      []byte
	profiles map[string]profile

	mu               sync.Mutex
	store            *store
	journal          journal
	faults           []*fault
	limits           limits
	registry         registry
	subscriptionTags map[string]map[string]any
}

// New returns a simulator of the catalog's types without any resources.
func New(catalog *resource.Catalog, opts Options) *Server {
	if opts.Clock == nil {
		opts.Clock = time.Now //nolint:forbidigo // the default of the one clock
	}
	if opts.RetryAfter < time.Second {
		opts.RetryAfter = time.Second
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return &Server{
		opts: opts, catalog: catalog, key: key, profiles: profiles(), store: newStore(catalog), limits: limits{},
		registry:         registry{from: opts.Unregistered, states: map[string]bool{}},
		subscriptionTags: map[string]map[string]any{},
	}
}

// Handler serves ARM, the login endpoints and /_armature.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// maxBody is what ARM accepts of a request.
const maxBody = 4 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			fail(http.StatusRequestEntityTooLarge, "RequestContentTooLarge", "expected at most %d bytes", maxBody).write(w, r.Method)
		}
		return
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	q := &request{
		method: r.Method, path: r.URL.Path, query: r.URL.Query(), header: r.Header, body: body,
		base: scheme + "://" + r.Host, now: s.opts.Clock(),
	}
	seg := split(q.path)
	if strings.EqualFold(seg[0], "_armature") {
		s.admin(q, seg[1:]).write(w, r.Method)
		return
	}
	if resp, login := s.login(q, seg); login {
		resp.write(w, r.Method)
		return
	}
	if strings.Contains(strings.ToLower(r.URL.EscapedPath()), "%2f") {
		q.path = ""
	}
	s.serveARM(w, r, q)
}

func (s *Server) serveARM(w http.ResponseWriter, r *http.Request, q *request) {
	q.fault = s.takeFault(q)
	if q.fault != nil && !q.fault.wait(r.Context()) || q.fault.cuts() {
		s.record(q, r.URL.Path, response{}, nil)
		panic(http.ErrAbortHandler)
	}
	q.now = s.opts.Clock()
	resp := s.answer(q)
	resp = resp.with(arm.HeaderRequestID, newUUID())
	correlation := q.header.Get(arm.HeaderCorrelationID)
	if correlation == "" {
		correlation = newUUID()
	}
	resp = resp.with(arm.HeaderCorrelationID, correlation)
	if id := q.header.Get(arm.HeaderClientRequestID); id != "" {
		resp = resp.with(arm.HeaderClientRequestID, id)
	}
	seq := s.record(q, r.URL.Path, resp, nil)
	if q.fault != nil && q.fault.LoseAnswer {
		panic(http.ErrAbortHandler)
	}
	s.recordBody(seq, resp.write(w, r.Method))
}

// answer is the front door: what ARM checks before any provider.
func (s *Server) answer(q *request) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.settle(q.now)
	principal, granted := s.authorized(q)
	if !granted {
		return fail(http.StatusUnauthorized, "InvalidAuthenticationToken",
			"The access token is missing, expired or was not issued here; get one from the token endpoint.").
			with("WWW-Authenticate", `Bearer authorization_uri="`+q.base+`/`+s.tenant()+`", error="invalid_token"`)
	}
	if q.path == "" {
		return fail(http.StatusBadRequest, "InvalidResourceId", "The path holds an escaped slash.")
	}
	q.principal = principal
	name, value, retry := s.limits.take(q, s.opts.RateLimits, s.opts.NoRateLimits)
	if retry > 0 {
		return throttled(q, retry).with(name, value)
	}
	resp := s.dispatch(q)
	if name != "" {
		resp = resp.with(name, value)
	}
	return resp
}

func (s *Server) dispatch(q *request) response {
	if q.fault != nil && q.fault.Status != 0 {
		return q.fault.response(s.retryAfter())
	}
	if q.query.Get("api-version") == "" {
		return fail(http.StatusBadRequest, "MissingApiVersionParameter",
			"The api-version query parameter (?api-version=) is required for all requests.").gateway()
	}
	return s.route(q)
}

package armclient

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	armpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/policy"
	armruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/armature-dev/armature/pkg/arm"
)

// Reads are repeated once, soon; all else is the caller's to repeat.
const (
	readRetries   = 1
	readDelay     = 200 * time.Millisecond
	readMaxDelay  = 2 * time.Second
	maxRedirects  = 5
	userAgentName = "armature/"
)

// newPipeline puts the policies in order: identify, guard, retry, then per
// try the budget, the token and the wire.
func newPipeline(base *url.URL, cloud Cloud, cred azcore.TokenCredential, t http.RoundTripper, o Options) runtime.Pipeline {
	perRetry := []policy.Policy{&meter{limiter: o.Limiter, principal: o.Principal, observe: o.Observer, base: base.Path}}
	if cred != nil {
		perRetry = append(perRetry, armruntime.NewBearerTokenPolicy(login{cred}, &armpolicy.BearerTokenOptions{
			Scopes:                          []string{cloud.scope()},
			InsecureAllowCredentialWithHTTP: cloud.InsecureHTTP,
		}))
	}
	// The last look before the wire: whatever made the request, a token goes
	// to the endpoint alone.
	perRetry = append(perRetry, &guard{base: base})
	version := o.Version
	if version == "" {
		version = "dev"
	}
	return runtime.NewPipeline("armature", "", runtime.PipelineOptions{
		PerCall:  []policy.Policy{runtime.NewRequestIDPolicy(), &identify{agent: userAgentName + version}, &guard{base: base}},
		PerRetry: perRetry,
	}, &policy.ClientOptions{
		Telemetry: policy.TelemetryOptions{Disabled: true},
		Retry: policy.RetryOptions{
			MaxRetries: readRetries, RetryDelay: readDelay, MaxRetryDelay: readMaxDelay, ShouldRetry: shouldRetry,
		},
		Transport: &http.Client{Transport: t, CheckRedirect: redirects(base)},
	})
}

// shouldRetry repeats reads that met a server error or nobody at all. A 429
// is never repeated here: its budget is blocked.
func shouldRetry(resp *http.Response, err error) bool {
	if err != nil {
		var call *CallError
		return !errors.As(err, &call) && !errors.Is(err, ErrForeignHost) && readOf(err)
	}
	if resp.Request.Method != http.MethodGet && resp.Request.Method != http.MethodHead {
		return false
	}
	return runtime.HasStatusCode(resp, http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout)
}

// readOf reports whether err is of a GET or HEAD: net/http puts the method,
// capitalised, into its errors.
func readOf(err error) bool {
	var u *url.Error
	return errors.As(err, &u) && (u.Op == "Get" || u.Op == "Head")
}

// redirects follows redirects on the endpoint alone.
func redirects(base *url.URL) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if !sameHost(base, req.URL) {
			return ErrForeignHost
		}
		if len(via) >= maxRedirects {
			return http.ErrUseLastResponse
		}
		return nil
	}
}

func sameHost(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "http"):
		return "80"
	}
	return "443"
}

// guard refuses to send to any host but the endpoint, and takes poll URLs on
// other hosts out of answers, so that no poller ever sees one. Relative poll
// URLs are made absolute.
type guard struct{ base *url.URL }

func (g *guard) Do(req *policy.Request) (*http.Response, error) {
	if !sameHost(g.base, req.Raw().URL) {
		return nil, &CallError{Method: req.Raw().Method, Path: req.Raw().URL.Path, err: ErrForeignHost}
	}
	resp, err := req.Next()
	if err != nil {
		return nil, err
	}
	if last := callOf(req.Raw().Context()).last; last != nil {
		*last = resp
	}
	for _, name := range pollHeaders() {
		v := resp.Header.Get(name)
		if v == "" {
			continue
		}
		u, err := req.Raw().URL.Parse(v)
		switch {
		case err != nil || !sameHost(g.base, u):
			resp.Header.Del(name)
			resp.Header.Set(headerForeign, name)
		default:
			resp.Header.Set(name, u.String())
		}
	}
	return resp, nil
}

func pollHeaders() []string {
	return []string{arm.HeaderAsyncOperation, arm.HeaderOperationLocation, arm.HeaderLocation}
}

// headerForeign marks an answer whose poll URL the guard took out.
const headerForeign = "X-Armature-Foreign"

// identify sets the User-Agent and the correlation ID.
type identify struct{ agent string }

func (p *identify) Do(req *policy.Request) (*http.Response, error) {
	h := req.Raw().Header
	h.Set("User-Agent", p.agent)
	if id := correlation(req.Raw().Context()); id != "" {
		h.Set(arm.HeaderCorrelationID, id)
	}
	return req.Next()
}

type correlationKey struct{}

// WithCorrelation makes all calls under the context carry id as
// x-ms-correlation-request-id; ARM wants a UUID.
func WithCorrelation(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, correlationKey{}, id)
}

func correlation(ctx context.Context) string {
	id, _ := ctx.Value(correlationKey{}).(string)
	return id
}

// call is what policies need to know of a request.
type call struct {
	background bool
	poll       bool
	// last takes the answer of a poll, for where azcore can't read it.
	last **http.Response
}

type callKey struct{}

func withCall(ctx context.Context, c call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

func callOf(ctx context.Context) call {
	c, _ := ctx.Value(callKey{}).(call)
	return c
}

// CallInfo tells an Observer of one try of one call.
type CallInfo struct {
	Method string
	// Type is the ARM type of the path, "" where it is no resource ID.
	Type         string
	Subscription string
	// Poll is true for polls of operations.
	Poll bool
	// Status is 0 where nobody answered, or where the budget refused.
	Status  int
	Outcome Outcome
	// Budget is true where the call was not made for lack of budget.
	Budget        bool
	Duration      time.Duration
	CorrelationID string
	// RequestID is ARM's, "" where nobody answered.
	RequestID string
}

// meter takes a token from the budget, gives back what the answer says of
// it, and tells the observer.
type meter struct {
	limiter   *Limiter
	principal string
	observe   func(CallInfo)
	base      string
}

func (m *meter) Do(req *policy.Request) (*http.Response, error) {
	raw := req.Raw()
	info := CallInfo{
		Method: raw.Method, Poll: callOf(raw.Context()).poll, CorrelationID: raw.Header.Get(arm.HeaderCorrelationID),
	}
	info.Type, info.Subscription = target(strings.TrimPrefix(raw.URL.Path, m.base))
	key := BudgetKey{Principal: m.principal, Subscription: strings.ToLower(info.Subscription), Kind: KindOf(raw.Method)}
	if wait, ok := m.limiter.take(key, callOf(raw.Context()).background); !ok {
		info.Budget, info.Outcome = true, Throttled
		m.tell(info)
		return nil, &CallError{Method: raw.Method, Path: raw.URL.Path, RetryAfter: wait, err: ErrBudget}
	}
	start := time.Now() //nolint:forbidigo // the wire's clock is the machine's
	resp, err := req.Next()
	info.Duration = time.Since(start)
	if err != nil {
		m.limiter.done(key, nil, false, 0)
		info.Outcome, _ = Classify(raw.Method, err)
		m.tell(info)
		return nil, err
	}
	info.Status, info.RequestID, info.Outcome = resp.StatusCode, resp.Header.Get(arm.HeaderRequestID), OK
	if resp.StatusCode > 299 {
		info.Outcome = outcomeOf(raw.Method, resp)
	}
	m.limiter.done(key, resp.Header, info.Outcome == Throttled && ofSubscription(resp.Header), retryAfter(resp.Header))
	m.tell(info)
	return resp, nil
}

// ofSubscription reports whether a 429 speaks for the whole subscription:
// a provider has limits of its own, which say nothing of others.
func ofSubscription(h http.Header) bool {
	return !strings.EqualFold(h.Get(arm.HeaderFailureCause), "service")
}

func outcomeOf(method string, resp *http.Response) Outcome {
	// The body stays readable: azcore keeps what it read.
	body, err := runtime.Payload(resp)
	if err != nil {
		return Retry
	}
	o, _ := Classify(method, arm.ParseError(resp.StatusCode, resp.Header, body))
	return o
}

func (m *meter) tell(info CallInfo) {
	if m.observe != nil {
		m.observe(info)
	}
}

// target reads ARM type and subscription of a path. Paths of operations and
// actions give the type that they hang from, as far as it can be read.
func target(path string) (typ, subscription string) {
	id, err := arm.ParseID(path)
	if err != nil {
		if i := strings.LastIndexByte(path, '/'); i > 0 {
			id, err = arm.ParseID(path[:i])
		}
	}
	if err != nil {
		return "", ""
	}
	return id.Type(), id.SubscriptionID
}

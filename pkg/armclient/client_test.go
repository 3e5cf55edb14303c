package armclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"

	"github.com/armature-dev/armature/pkg/arm"
)

const (
	secretToken = "tok-3f9c"
	groupPath   = "/subscriptions/s1/resourceGroups/rg"
	vmssPath    = groupPath + "/providers/Microsoft.Compute/virtualMachineScaleSets/web"
)

type fakeCred struct{ err error }

func (f fakeCred) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: secretToken, ExpiresOn: time.Now().Add(time.Hour)}, f.err
}

// answer is one canned answer.
type answer struct {
	status int
	header map[string]string
	body   string
}

// server plays its answers in turn, the last one again and again, and records
// what it was asked.
type server struct {
	*httptest.Server

	mu      sync.Mutex
	answers []answer
	asked   []*http.Request
	bodies  []string
}

func newServer(t *testing.T, answers ...answer) *server {
	t.Helper()
	s := &server{answers: answers}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, _ := io.ReadAll(r.Body)
	s.asked, s.bodies = append(s.asked, r), append(s.bodies, string(b))
	a := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	for k, v := range a.header {
		w.Header().Set(k, strings.ReplaceAll(v, "{host}", s.URL))
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, r := range s.asked {
		all = append(all, r.Method+" "+r.URL.String())
	}
	return all
}

func (s *server) cloud() Cloud {
	return Cloud{Endpoint: s.URL, Audience: "https://arm.test", Authority: s.URL}
}

func (s *server) client(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Transport == nil {
		o.Transport = s.Client().Transport
	}
	c, err := New(s.cloud(), fakeCred{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDoSendsWhatItIsTold(t *testing.T) {
	t.Parallel()
	s := newServer(t, answer{200, map[string]string{"ETag": `"e1"`, "Retry-After": "15"}, `{"n":12345678901234567890,"etag":"other"}`})
	c := s.client(t, Options{Version: "1.2.3"})
	resp, err := c.Do(WithCorrelation(t.Context(), "corr-1"), Request{
		Method: http.MethodPut, Path: groupPath + "/providers/Microsoft.Web/sites/a b(1)", APIVersion: "2024-01-01",
		Query: map[string]string{"$expand": "instanceView"}, Body: map[string]any{"sku": nil}, IfMatch: `"e0"`,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &Response{
		Status: 200, Body: map[string]any{"n": json.Number("12345678901234567890"), "etag": "other"},
		ETag: `"e1"`, RetryAfter: 15 * time.Second, Header: resp.Header,
	}
	if d := cmp.Diff(want, resp); d != "" {
		t.Error(d)
	}
	r := s.asked[0]
	got := map[string]string{
		"url": r.URL.String(), "body": s.bodies[0], "match": r.Header.Get("If-Match"), "agent": r.UserAgent(),
		"corr": r.Header.Get(arm.HeaderCorrelationID), "auth": r.Header.Get("Authorization"), "type": r.Header.Get("Content-Type"),
	}
	wantReq := map[string]string{
		"url":  "/subscriptions/s1/resourceGroups/rg/providers/Microsoft.Web/sites/a%20b%281%29?%24expand=instanceView&api-version=2024-01-01",
		"body": `{"sku":null}`, "match": `"e0"`, "agent": "armature/1.2.3", "corr": "corr-1", "auth": "Bearer " + secretToken,
		"type": "application/json",
	}
	if d := cmp.Diff(wantReq, got); d != "" {
		t.Error(d)
	}
	if r.Header.Get(arm.HeaderClientRequestID) == "" {
		t.Error("no client request ID")
	}
}

func TestDoRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers []answer
		method  string
		want    arm.Error
		outcome Outcome
		after   time.Duration
		asked   int
	}{
		"a write is sent once": {
			answers: []answer{{503, map[string]string{"Content-Type": "text/html"}, "<html>"}},
			method:  http.MethodPut, want: arm.Error{Status: 503}, outcome: Retry, asked: 1,
		},
		"a read is repeated once": {
			answers: []answer{{500, map[string]string{"Retry-After-Ms": "1"}, ``}},
			method:  http.MethodGet, want: arm.Error{Status: 500}, outcome: Retry, asked: 2, after: time.Millisecond,
		},
		"a read is not held by a long Retry-After": {
			answers: []answer{{503, map[string]string{"Retry-After": "15"}, ``}},
			method:  http.MethodGet, want: arm.Error{Status: 503}, outcome: Retry, asked: 1, after: 15 * time.Second,
		},
		"a throttled read is not repeated": {
			answers: []answer{{429, map[string]string{"Retry-After": "1"}, `{"error":{"code":"429","message":"too many"}}`}},
			method:  http.MethodGet, want: arm.Error{Status: 429, Code: "429", Message: "too many"}, outcome: Throttled, asked: 1, after: time.Second,
		},
		"a login that is not accepted": {
			answers: []answer{{401, map[string]string{"WWW-Authenticate": `Bearer error="invalid_token"`}, `{"error":{"code":"InvalidAuthenticationToken"}}`}},
			method:  http.MethodGet, want: arm.Error{Status: 401, Code: "InvalidAuthenticationToken"}, outcome: Unauthorized, asked: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, tc.answers...)
			_, err := s.client(t, Options{}).Do(t.Context(), Request{Method: tc.method, Path: vmssPath, APIVersion: "v"})
			var e *arm.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *arm.Error", err)
			}
			if d := cmp.Diff(tc.want, *e); d != "" {
				t.Error(d)
			}
			if o, after := Classify(tc.method, err); o != tc.outcome || after != tc.after {
				t.Errorf("got %s after %s, want %s after %s", o, after, tc.outcome, tc.after)
			}
			if len(s.requests()) != tc.asked {
				t.Errorf("got requests %q, want %d", s.requests(), tc.asked)
			}
		})
	}
}

func TestDoRefusesPathsThatWander(t *testing.T) {
	t.Parallel()
	s := newServer(t, answer{status: 200})
	c := s.client(t, Options{})
	for _, p := range []string{"", "subscriptions/s", "//evil.test/x", groupPath + "/../../other", groupPath + "/./x", groupPath + "//x"} {
		if _, err := c.Do(t.Context(), Request{Method: http.MethodGet, Path: p}); err == nil {
			t.Errorf("path %q was sent", p)
		}
	}
	if n := len(s.requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t, answer{status: 200})
	c := s.client(t, Options{})
	s.Close()
	_, err := c.Do(t.Context(), Request{Method: http.MethodPut, Path: vmssPath, Query: map[string]string{"sig": "abc"}})
	if o, _ := Classify(http.MethodPut, err); o != Retry {
		t.Errorf("got %s of %v, want Retry", o, err)
	}
	if strings.Contains(fmt.Sprint(err), "sig") {
		t.Errorf("the query is in the error: %v", err)
	}
}

func TestLoginErrors(t *testing.T) {
	t.Parallel()
	s := newServer(t, answer{status: 200})
	c, err := New(s.cloud(), fakeCred{err: errors.New("ClientSecretCredential authentication failed\nPOST https://x\n---\n  \"error_description\": \"AADSTS7000215: Invalid client secret.\",\n")}, //nolint:revive // as the login says it
		Options{Transport: s.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(t.Context(), Request{Method: http.MethodGet, Path: vmssPath})
	if o, _ := Classify(http.MethodGet, err); o != Unauthorized {
		t.Errorf("got %s of %v, want Unauthorized", o, err)
	}
	want := "GET " + vmssPath + ": getting a token: AADSTS7000215: Invalid client secret."
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// TestTokenStaysHome has a second server that must never see a token. Both are
// trusted: the guard alone protects.
func TestTokenStaysHome(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		first answer
		call  func(c *Client, ctx context.Context, evil string) error
	}{
		"redirect": {
			answer{307, map[string]string{"Location": "{evil}/x"}, ""},
			func(c *Client, ctx context.Context, _ string) error {
				_, err := c.Do(ctx, Request{Method: http.MethodGet, Path: vmssPath})
				return err
			},
		},
		"next page": {
			answer{200, nil, `{"value":[],"nextLink":"{evil}/next"}`},
			func(c *Client, ctx context.Context, _ string) error {
				for _, err := range c.List(ctx, Request{Path: groupPath + "/resources"}) {
					return err
				}
				return nil
			},
		},
		"resume token": {
			answer{status: 200},
			func(c *Client, _ context.Context, evil string) error {
				_, err := c.Resume(`{"type":"result","token":{"type":"loc","pollURL":"` + evil + `/op","state":"InProgress"}}`)
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			evil := newServer(t, answer{status: 200, body: `{}`})
			first := answer{tc.first.status, map[string]string{}, strings.ReplaceAll(tc.first.body, "{evil}", evil.URL)}
			for k, v := range tc.first.header {
				first.header[k] = strings.ReplaceAll(v, "{evil}", evil.URL)
			}
			s := newServer(t, first)
			if err := tc.call(s.client(t, Options{}), t.Context(), evil.URL); !errors.Is(err, ErrForeignHost) {
				t.Errorf("got %v, want ErrForeignHost", err)
			}
			if got := evil.requests(); len(got) != 0 {
				t.Errorf("the other server saw %q", got)
			}
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	s := newServer(t, answer{200, nil, ``})
	s.answers = []answer{
		{200, nil, `{"value":[{"id":"a"}],"nextLink":"` + s.URL + `/p2?x=1"}`},
		{200, nil, `{"value":[],"nextLink":"` + s.URL + `/p3"}`},
		{200, nil, `{"value":[{"id":"b"}],"nextLink":null}`},
	}
	var got []any
	for m, err := range s.client(t, Options{}).List(t.Context(), Request{Path: groupPath + "/resources", APIVersion: "v"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m["id"])
	}
	if d := cmp.Diff([]any{"a", "b"}, got); d != "" {
		t.Error(d)
	}
}

func TestRegistersProvidersOnce(t *testing.T) {
	t.Parallel()
	refusal := answer{409, nil, `{"error":{"code":"MissingSubscriptionRegistration","message":"not registered","details":[{"code":"x","target":"Microsoft.Compute"}]}}`}
	s := newServer(t, refusal, answer{status: 200, body: `{}`}, refusal)
	c := s.client(t, Options{})
	for range 2 {
		_, err := c.Do(t.Context(), Request{Method: http.MethodPut, Path: vmssPath, APIVersion: "v"})
		if o, after := Classify(http.MethodPut, err); o != Retry || after < time.Second {
			t.Errorf("got %s after %s of %v, want Retry", o, after, err)
		}
	}
	want := []string{
		"PUT " + vmssPath + "?api-version=v",
		"POST /subscriptions/s1/providers/Microsoft.Compute/register?api-version=2021-04-01",
		"PUT " + vmssPath + "?api-version=v",
	}
	if d := cmp.Diff(want, s.requests()); d != "" {
		t.Error(d)
	}
}

func TestRegistrationRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, answer{409, nil, `{"error":{"code":"MissingSubscriptionRegistration"}}`}, answer{403, nil, `{"error":{"code":"AuthorizationFailed","message":"may not register"}}`})
	_, err := s.client(t, Options{}).Do(t.Context(), Request{Method: http.MethodPut, Path: vmssPath})
	if o, _ := Classify(http.MethodPut, err); o != NotRegistered || !strings.Contains(err.Error(), "may not register") {
		t.Errorf("got %s of %v", o, err)
	}
}

func TestObserver(t *testing.T) {
	t.Parallel()
	var got []CallInfo
	s := newServer(t, answer{404, map[string]string{arm.HeaderRequestID: "r1"}, `{"error":{"code":"ResourceNotFound"}}`})
	c := s.client(t, Options{Observer: func(i CallInfo) { i.Duration = 0; got = append(got, i) }, Limiter: NewLimiter(map[Kind]Budget{Reads: {1, 0.001}})})
	for range 2 {
		_, _ = c.Do(WithCorrelation(t.Context(), "c1"), Request{Method: http.MethodGet, Path: vmssPath + "/instanceView"})
	}
	base := CallInfo{Method: "GET", Type: "Microsoft.Compute/virtualMachineScaleSets", Subscription: "s1", CorrelationID: "c1"}
	answered, refused := base, base
	answered.Status, answered.Outcome, answered.RequestID = 404, Gone, "r1"
	refused.Budget, refused.Outcome = true, Throttled
	if d := cmp.Diff([]CallInfo{answered, refused}, got); d != "" {
		t.Error(d)
	}
}

func TestNothingShowsTheToken(t *testing.T) {
	t.Parallel()
	s := newServer(t, answer{403, nil, `{"error":{"code":"AuthorizationFailed"}}`})
	c := s.client(t, Options{Principal: "p"})
	_, err := c.Do(t.Context(), Request{Method: http.MethodGet, Path: vmssPath})
	var call *CallError
	if !errors.As(err, &call) {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s", c, c, c, c), fmt.Sprintf("%v %+v %#v", err, err, call)} {
		if strings.Contains(text, secretToken) {
			t.Errorf("the token is in %s", text)
		}
	}
}

package armclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/armature-dev/armature/pkg/arm"
)

// Operation is a long-running operation that has not ended. It is not safe
// for concurrent use.
type Operation struct {
	poller *runtime.Poller[result]
	// byStatus is true where poll answers carry a status of their own; else
	// the HTTP status and the resource's provisioningState tell.
	byStatus bool
}

// result takes the final body as it is. Its name is in every resume token:
// changing it makes old tokens unreadable.
type result []byte

// UnmarshalJSON keeps a copy of b.
func (r *result) UnmarshalJSON(b []byte) error {
	*r = append((*r)[:0], b...)
	return nil
}

// Token is what Resume continues from, in this process or another. It holds
// no credential. An operation that has ended has none.
func (o *Operation) Token() (string, error) {
	t, err := o.poller.ResumeToken()
	if err != nil {
		return "", fmt.Errorf("writing a resume token: %w", err)
	}
	return t, nil
}

// Begin makes a PUT, PATCH, DELETE or POST. The operation is nil where it
// ended with the answer, and where Response.PollResource is true: then only
// the resource tells. A write that was accepted and failed at once is an
// *arm.Error of status 0, with the response beside it.
func (c *Client) Begin(ctx context.Context, r Request) (*Response, *Operation, error) {
	raw, resp, err := c.do(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	foreign := raw.Header.Get(headerForeign) != ""
	dropSelf(raw)
	state := arm.ProvisioningState(resp.Body)
	polled := hasPollURL(raw.Header)
	switch {
	case !polled && raw.StatusCode != http.StatusAccepted && (arm.IsTerminal(state) && !(foreign && state == "")):
		return resp, nil, ended(r, raw, state)
	case !polled && foreign:
		resp.PollResource = true
		return resp, nil, nil
	}
	p, err := runtime.NewPoller(raw, c.pipeline, &runtime.NewPollerOptions[result]{FinalStateVia: runtime.FinalStateVia(r.FinalState)})
	if err != nil {
		// The write was accepted, so its answer is not an error whatever is
		// wrong with its poll URL: a 202 without one, for instance.
		resp.PollResource = true
		return resp, nil, nil //nolint:nilerr // the resource is polled instead
	}
	if p.Done() {
		return resp, nil, ended(r, raw, state)
	}
	return resp, &Operation{poller: p, byStatus: byStatus(raw.Header)}, nil
}

// dropSelf takes out a Location that names the resource that a PUT or PATCH
// has just written: HTTP's meaning of the header on a 201, not a poll URL.
func dropSelf(raw *http.Response) {
	h, req := raw.Header, raw.Request
	if raw.StatusCode == http.StatusAccepted || byStatus(h) || (req.Method != http.MethodPut && req.Method != http.MethodPatch) {
		return
	}
	if u, err := url.Parse(h.Get(arm.HeaderLocation)); err == nil && strings.EqualFold(strings.TrimRight(u.Path, "/"), req.URL.Path) {
		h.Del(arm.HeaderLocation)
	}
}

func hasPollURL(h http.Header) bool { return byStatus(h) || h.Get(arm.HeaderLocation) != "" }

func byStatus(h http.Header) bool {
	return h.Get(arm.HeaderAsyncOperation) != "" || h.Get(arm.HeaderOperationLocation) != ""
}

// ended is nil for a state that is good.
func ended(r Request, raw *http.Response, state string) error {
	if !arm.IsTerminal(state) || arm.IsSucceeded(state) {
		return nil
	}
	e := &arm.Error{Code: state, Message: "the resource's provisioningState is " + state}
	return &CallError{Method: r.Method, Path: r.Path, RequestID: raw.Header.Get(arm.HeaderRequestID), err: e}
}

// tokenURLs are the parts of azcore's tokens that decide where to poll.
type tokenURLs struct {
	Type  string `json:"type"`
	Token struct {
		Type     string `json:"type"`
		AsyncURL string `json:"asyncURL"`
		OpLocURL string `json:"oplocURL"`
		PollURL  string `json:"pollURL"`
		LocURL   string `json:"locURL"`
		OrigURL  string `json:"origURL"`
	} `json:"token"`
}

var errToken = errors.New("expected a token that Operation.Token wrote")

// Resume continues an operation from its token. A token that is not one, or
// that leads to another host than the endpoint, is an error.
func (c *Client) Resume(token string) (*Operation, error) {
	var t tokenURLs
	if err := json.Unmarshal([]byte(token), &t); err != nil {
		return nil, fmt.Errorf("resuming an operation: %w: %w", errToken, err)
	}
	if t.Token.AsyncURL == "" && t.Token.OpLocURL == "" && t.Token.PollURL == "" {
		return nil, fmt.Errorf("resuming an operation: %w: no poll URL", errToken)
	}
	for _, s := range []string{t.Token.AsyncURL, t.Token.OpLocURL, t.Token.PollURL, t.Token.LocURL, t.Token.OrigURL} {
		u, err := url.Parse(s)
		if err != nil {
			return nil, fmt.Errorf("resuming an operation: %w: not a URL", errToken)
		}
		if s != "" && !sameHost(c.base, u) {
			return nil, fmt.Errorf("resuming an operation at %s: %w", u.Host, ErrForeignHost)
		}
	}
	p, err := runtime.NewPollerFromResumeToken[result](token, c.pipeline, nil)
	if err != nil {
		return nil, fmt.Errorf("resuming an operation: %w: %w", errToken, err)
	}
	if p.Done() {
		return nil, fmt.Errorf("resuming an operation: %w: it has ended", errToken)
	}
	return &Operation{poller: p, byStatus: t.Token.AsyncURL != "" || t.Token.OpLocURL != ""}, nil
}

// Poll asks once. done is true where the operation has ended, well or (with an
// *arm.Error, of status 0 where the operation says so itself) badly; percent
// is what ARM reports, 0 where it doesn't; retryAfter is 0 where ARM doesn't
// say. Where done is false an error leaves the operation as it was, token
// included, and Classify says when to ask again. With ErrOperationGone done is
// true, and only the resource shows how it ended.
func (c *Client) Poll(ctx context.Context, op *Operation) (done bool, percent int, retryAfter time.Duration, err error) {
	token, err := op.Token()
	if err != nil {
		return false, 0, 0, err
	}
	var last *http.Response
	raw, err := op.poller.Poll(withCall(ctx, call{poll: true, last: &last}))
	var refusal *azcore.ResponseError
	switch {
	case errors.As(err, &refusal) && refusal.RawResponse != nil:
		raw = refusal.RawResponse
	case err != nil && last != nil && last.StatusCode < 300:
		return unread(last, err)
	case err != nil:
		e := broken(http.MethodGet, "operation", err)
		return false, 0, e.RetryAfter, e
	}
	done, percent, retryAfter, err = op.judge(raw)
	if !done && op.poller.Done() {
		// azcore gave up on an answer that says nothing of the operation.
		if p, resumeErr := runtime.NewPollerFromResumeToken[result](token, c.pipeline, nil); resumeErr == nil {
			op.poller = p
		}
	}
	return done, percent, retryAfter, err
}

// unread judges a success that azcore could not read: services answer 202 and
// 204 without a body, and bodies without a status.
func unread(raw *http.Response, cause error) (done bool, percent int, after time.Duration, err error) {
	after = retryAfter(raw.Header)
	e := &CallError{Method: raw.Request.Method, Path: raw.Request.URL.Path, RetryAfter: after, err: cause}
	body, err := runtime.Payload(raw)
	switch {
	case err != nil:
		return false, 0, after, e
	case raw.StatusCode == http.StatusAccepted:
		return false, 0, after, nil
	case raw.StatusCode == http.StatusNoContent:
		return true, 0, 0, nil
	}
	if m, err := decode(body); err != nil || m == nil {
		return false, 0, after, e
	}
	e.err = fmt.Errorf("%w: %w", ErrOperationGone, cause)
	return true, 0, after, e
}

// judge reads one answer to a poll.
func (o *Operation) judge(raw *http.Response) (done bool, percent int, after time.Duration, err error) {
	after = retryAfter(raw.Header)
	body, err := runtime.Payload(raw)
	if err != nil {
		return false, 0, after, broken(raw.Request.Method, raw.Request.URL.Path, err)
	}
	if raw.StatusCode > 299 {
		e := refused(raw.Request, raw, body)
		if raw.StatusCode == http.StatusNotFound || raw.StatusCode == http.StatusGone {
			e.err = fmt.Errorf("%w: %w", ErrOperationGone, e.err)
			return true, 0, after, e
		}
		// A Location answers with the refusal that a synchronous call would
		// have met, unless the poll itself was refused.
		own := raw.StatusCode == http.StatusUnauthorized || raw.StatusCode == http.StatusForbidden
		return o.poller.Done() && !own, 0, after, e
	}
	m, _ := decode(body)
	percent = percentOf(m)
	if !o.poller.Done() {
		return false, percent, after, nil
	}
	return true, percent, 0, o.failure(raw, m, body)
}

// failure is the error of an operation that has ended badly, else nil.
func (o *Operation) failure(raw *http.Response, m map[string]any, body []byte) error {
	state, _ := m["status"].(string)
	if !o.byStatus {
		state = arm.ProvisioningState(m)
	}
	if arm.IsSucceeded(state) || !arm.IsTerminal(state) {
		return nil
	}
	e := &arm.Error{}
	if _, ok := m["error"].(map[string]any); ok {
		e = arm.ParseError(0, raw.Header, body)
	}
	if e.Code == "" {
		e.Code = state
	}
	if e.Message == "" {
		e.Message = "the operation ended as " + state
	}
	return &CallError{
		Method: raw.Request.Method, Path: raw.Request.URL.Path, RequestID: raw.Header.Get(arm.HeaderRequestID), err: e,
	}
}

// Result is what a POST that ended well gives back; it may take one more GET.
func (c *Client) Result(ctx context.Context, op *Operation) (map[string]any, error) {
	b, err := op.poller.Result(withCall(ctx, call{poll: true}))
	if err != nil {
		var refusal *azcore.ResponseError
		if errors.As(err, &refusal) && refusal.RawResponse != nil {
			raw := refusal.RawResponse
			body, _ := runtime.Payload(raw)
			return nil, refused(raw.Request, raw, body)
		}
		return nil, broken(http.MethodGet, "operation", err)
	}
	m, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("reading an operation's result: %w", err)
	}
	return m, nil
}

func percentOf(m map[string]any) int {
	for _, v := range []any{m["percentComplete"], prop(m, "percentComplete")} {
		var f float64
		switch n := v.(type) {
		case json.Number:
			f, _ = n.Float64()
		case string:
			if json.NewDecoder(bytes.NewReader([]byte(n))).Decode(&f) != nil {
				continue
			}
		}
		if f > 0 {
			return int(min(f, 100))
		}
	}
	return 0
}

func prop(m map[string]any, name string) any {
	p, _ := m["properties"].(map[string]any)
	return p[name]
}

package armclient

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/armature-dev/armature/pkg/arm"
)

var (
	// ErrBudget is a call that was not made, because its rate budget is used
	// up. The CallError around it says when to come back.
	ErrBudget = errors.New("rate budget of the subscription is used up")
	// ErrForeignHost is a call that was not made, because its URL leads to
	// another host than ARM's endpoint.
	ErrForeignHost = errors.New("refusing to send a token to another host than the ARM endpoint")
	// ErrOperationGone is an operation that ARM no longer knows (404): how it
	// ended can only be seen in the resource.
	ErrOperationGone = errors.New("the operation is not known any more")

	errLogin = errors.New("login failed")
)

// CallError is every error of a call. What is in it is found by errors.As
// (*arm.Error for what a service refused) and errors.Is.
type CallError struct {
	Method string
	// Path is the URL's path: never its query, which can hold signatures.
	Path string
	// RetryAfter is what ARM or the budget asks to wait; 0 where they don't.
	RetryAfter time.Duration
	// RequestID is ARM's x-ms-request-id, "" where nobody answered.
	RequestID string
	// Registering is true where the provider was not registered, and the
	// client has asked for it: the same call will work in a while.
	Registering bool

	err error
}

// Error writes method, path and cause.
func (e *CallError) Error() string { return e.Method + " " + e.Path + ": " + e.err.Error() }

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.err }

// refused makes the error of an answer that is not a success.
func refused(req *http.Request, resp *http.Response, body []byte) *CallError {
	return &CallError{
		Method: req.Method, Path: req.URL.Path, RetryAfter: retryAfter(resp.Header),
		RequestID: resp.Header.Get(arm.HeaderRequestID), err: arm.ParseError(resp.StatusCode, resp.Header, body),
	}
}

// broken makes the error of a call without an answer. It drops the URL that
// net/http puts into its errors: a poll URL's query can hold signatures.
func broken(method, path string, err error) *CallError {
	if call, ok := errors.AsType[*CallError](err); ok {
		return call
	}
	var u *url.Error
	if errors.As(err, &u) && !errors.Is(err, errLogin) {
		err = u.Err
	}
	return &CallError{Method: method, Path: path, err: err}
}

// login decorates a credential: its errors become one line and are known as
// login errors.
type login struct{ azcore.TokenCredential }

func (l login) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	t, err := l.TokenCredential.GetToken(ctx, o)
	if err != nil {
		return azcore.AccessToken{}, &loginError{err: err}
	}
	return t, nil
}

// loginError shows the line of azidentity's report that says what is wrong.
type loginError struct{ err error }

func (e *loginError) Error() string {
	text := e.err.Error()
	var first string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line), `",`))
		if _, said, ok := strings.Cut(line, "AADSTS"); ok {
			return "getting a token: AADSTS" + said
		}
		if first == "" && line != "" && !strings.HasPrefix(line, "---") {
			first = line
		}
	}
	return "getting a token: " + first
}

func (e *loginError) Unwrap() []error { return []error{errLogin, e.err} }

// NonRetriable tells azcore not to try again.
func (e *loginError) NonRetriable() {}

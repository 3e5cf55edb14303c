package armsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/armature-dev/armature/pkg/arm"
)

// request is one HTTP request, read.
type request struct {
	method string
	path   string
	query  url.Values
	header http.Header
	body   []byte
	// base is the scheme and host that the client used.
	base string
	now  time.Time
	// principal is who asks, by the token.
	principal string
	// fault is what an injected fault does to the request; nil for most.
	fault *fault
}

// response is an HTTP answer before it is written.
type response struct {
	status int
	header map[string]string
	body   any
}

func (r response) with(name, value string) response {
	h := map[string]string{name: value}
	for k, v := range r.header {
		if k != name {
			h[k] = v
		}
	}
	r.header = h
	return r
}

func ok(status int, body any) response { return response{status: status, body: body} }

// fail is an error in ARM's shape.
func fail(status int, code, format string, args ...any) response {
	return failWith(&arm.Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)})
}

func failWith(e *arm.Error) response {
	return response{status: e.Status, body: map[string]any{"error": e}}
}

// gateway marks an error that ARM itself and not the provider gives.
func (r response) gateway() response { return r.with(arm.HeaderFailureCause, "gateway") }

// write sends the answer and returns the body's text.
func (r response) write(w http.ResponseWriter, method string) []byte {
	h := w.Header()
	for k, v := range r.header {
		h.Set(k, v)
	}
	h.Set("Cache-Control", "no-cache")
	if r.body == nil {
		if r.status != http.StatusNoContent && r.status != http.StatusNotModified {
			h.Set("Content-Length", "0")
		}
		w.WriteHeader(r.status)
		return nil
	}
	b, err := json.Marshal(r.body)
	if err != nil {
		b = []byte(`{"error":{"code":"InternalServerError","message":"the answer can't be written as JSON"}}`)
		r.status = http.StatusInternalServerError
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(r.status)
	if method != http.MethodHead {
		_, _ = w.Write(b)
	}
	return b
}

// split cuts a path into its segments, without the empty one at the end.
func split(path string) []string {
	return strings.Split(strings.Trim(path, "/"), "/")
}

// is reports whether segments match a pattern without case; "*" matches any.
func is(segments []string, pattern ...string) bool {
	if len(segments) != len(pattern) {
		return false
	}
	for i, p := range pattern {
		if p != "*" && !strings.EqualFold(segments[i], p) {
			return false
		}
	}
	return true
}

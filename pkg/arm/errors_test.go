package arm

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseError(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		contentType, body string
		want              Error
		text              string
	}{
		"by the book": {
			body: `{"error":{"code":"A","message":"m","target":"t","details":[{"code":"B","message":"n"}],"additionalInfo":[{"type":"Policy","info":{"x":1}}]}}`,
			want: Error{Code: "A", Message: "m", Target: "t", Details: []Error{{Code: "B", Message: "n"}}, AdditionalInfo: []AdditionalInfo{{Type: "Policy", Info: []byte(`{"x":1}`)}}},
			text: "A: m (target t); B: n",
		},
		"bare":                     {body: `{"code":"NotFound","message":"m"}`, want: Error{Code: "NotFound", Message: "m"}, text: "NotFound: m"},
		"capitals":                 {body: `{"Code":"Conflict","Message":"m","Target":null,"Details":[{"Message":"m"},{"Code":"Conflict"}]}`, want: Error{Code: "Conflict", Message: "m", Details: []Error{{Message: "m"}, {Code: "Conflict"}}}, text: "Conflict: m; Failed: m; Conflict"},
		"a message alone":          {body: `{"Message":"no GET here"}`, want: Error{Message: "no GET here"}, text: "400 Bad Request: no GET here"},
		"problem+json":             {body: `{"type":"about:blank","title":"Bad","status":400,"detail":"why"}`, want: Error{Code: "Bad", Message: "why"}, text: "Bad: why"},
		"null":                     {body: `null`, text: "400 Bad Request"},
		"null details":             {body: `{"error":{"code":"A","details":null,"innerError":null}}`, want: Error{Code: "A"}, text: "A"},
		"an error that is a word":  {body: `{"error":"invalid_client"}`, want: Error{Code: "invalid_client"}, text: "invalid_client"},
		"a code that is a number":  {body: `{"error":{"code":429,"message":"m"}}`, want: Error{Code: "429", Message: "m"}, text: "429: m"},
		"details that are a thing": {body: `{"error":{"code":"A","message":"m","details":{"x":1}}}`, want: Error{Code: "A", Message: "m"}, text: "A: m"},
		"a title that is a thing":  {body: `{"error":{"code":"A"},"title":{"x":1}}`, want: Error{Code: "A"}, text: "A"},
		"HTML":                     {contentType: "text/html; charset=utf-8", body: `<html>secret page</html>`, text: "400 Bad Request"},
		"text":                     {contentType: "text/plain", body: " upstream timed out\n", want: Error{Message: "upstream timed out"}, text: "400 Bad Request: upstream timed out"},
		"text without an end":      {contentType: "text/plain", body: strings.Repeat("é", 1000), want: Error{Message: strings.Repeat("é", 128) + "…"}, text: "400 Bad Request: " + strings.Repeat("é", 128) + "…"},
		"empty":                    {text: "400 Bad Request"},
		"many details": {
			body: `{"error":{"code":"A","details":[{"code":"1"},{"code":"2"},{"code":"3"},{"code":"4"},{"code":"5"}]}}`,
			want: Error{Code: "A", Details: []Error{{Code: "1"}, {Code: "2"}, {Code: "3"}, {Code: "4"}, {Code: "5"}}},
			text: "A; 1; 2; 3; and 2 more",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			h.Set("Content-Type", tc.contentType)
			h.Set(HeaderFailureCause, "gateway")
			tc.want.Status, tc.want.FailureCause = 400, "gateway"
			got := ParseError(400, h, []byte(tc.body))
			if d := cmp.Diff(tc.want, *got); d != "" {
				t.Error(d)
			}
			if got.Error() != tc.text {
				t.Errorf("got %q, want %q", got.Error(), tc.text)
			}
		})
	}
}

func TestHasCode(t *testing.T) {
	t.Parallel()
	e := &Error{Code: "A", Details: []Error{{Code: "B", Details: []Error{{Code: "C"}}}}}
	for code, want := range map[string]bool{"a": true, "b": true, "C": true, "d": false} {
		if got := e.HasCode("x", code); got != want {
			t.Errorf("%s: got %v", code, got)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	for state, want := range map[string][2]bool{
		"": {true, true}, "Succeeded": {true, true}, "succeeded": {true, true}, "Completed": {true, true},
		"Failed": {true, false}, "Canceled": {true, false}, "Cancelled": {true, false},
		"Inprogress": {false, false}, "Dequeued": {false, false}, "CreatingAgentPools: 0/1 nodes completed": {false, false},
	} {
		if got := [2]bool{IsTerminal(state), IsSucceeded(state)}; got != want {
			t.Errorf("%q: got %v, want %v", state, got, want)
		}
	}
	if got := ProvisioningState(map[string]any{"properties": map[string]any{"ProvisioningState": "x"}}); got != "x" {
		t.Errorf("got %q", got)
	}
	for _, body := range []map[string]any{nil, {"properties": nil}, {"properties": map[string]any{"provisioningState": 1}}} {
		if got := ProvisioningState(body); got != "" {
			t.Errorf("%v: got %q", body, got)
		}
	}
}

func FuzzParseError(f *testing.F) {
	for _, s := range []string{
		`{"error":{"code":"A","details":[{"code":"B"}]}}`, `{"Message":"x"}`, `{"error":"x"}`, `{"error":{"code":1}}`, `[]`, `"x"`, `<html>`, "\xff",
	} {
		f.Add(400, "application/json", []byte(s))
	}
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte) {
		e := ParseError(status, http.Header{"Content-Type": {contentType}}, body)
		if e == nil || e.Status != status || e.Error() == "" {
			t.Errorf("got %#v of %q", e, body)
		}
		e.HasCode("x")
	})
}

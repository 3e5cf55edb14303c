package armclient

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-dev/armature/pkg/arm"
)

const (
	aao = "{host}/subscriptions/s1/providers/Microsoft.Compute/locations/we/operations/o1?api-version=v"
	loc = "{host}/subscriptions/s1/providers/Microsoft.Compute/locations/we/results/o1?api-version=v"
)

func TestBegin(t *testing.T) {
	t.Parallel()
	self := map[string]string{"Location": vmssPath}
	for name, tc := range map[string]struct {
		method    string
		answer    answer
		operation bool
		resource  bool
		failed    bool
	}{
		"200 Succeeded":                        {http.MethodPut, answer{200, nil, `{"properties":{"provisioningState":"Succeeded"}}`}, false, false, false},
		"200 succeeded in lower case":          {http.MethodPut, answer{200, nil, `{"properties":{"provisioningState":"succeeded"}}`}, false, false, false},
		"200 without a state":                  {http.MethodPatch, answer{200, nil, `{"id":"x"}`}, false, false, false},
		"201 without a state":                  {http.MethodPut, answer{201, nil, `{"id":"x"}`}, false, false, false},
		"201 with a Location of itself":        {http.MethodPut, answer{201, self, `{"id":"x"}`}, false, false, false},
		"201 with a broken body":               {http.MethodPut, answer{201, nil, `<html>`}, false, false, false},
		"201 in an unheard-of state":           {http.MethodPut, answer{201, nil, `{"properties":{"provisioningState":"CreatingAgentPools: 0/1"}}`}, true, false, false},
		"201 Failed":                           {http.MethodPut, answer{201, nil, `{"properties":{"provisioningState":"Failed"}}`}, false, false, true},
		"201 with AAO":                         {http.MethodPut, answer{201, map[string]string{arm.HeaderAsyncOperation: aao}, `{"properties":{"provisioningState":"Updating"}}`}, true, false, false},
		"AAO although Succeeded":               {http.MethodPut, answer{200, map[string]string{arm.HeaderAsyncOperation: aao}, `{"properties":{"provisioningState":"Succeeded"}}`}, false, false, false},
		"202 with both":                        {http.MethodPut, answer{202, map[string]string{arm.HeaderAsyncOperation: aao, arm.HeaderLocation: loc}, ``}, true, false, false},
		"202 with Operation-Location":          {http.MethodPut, answer{202, map[string]string{arm.HeaderOperationLocation: aao}, ``}, true, false, false},
		"202 with Location":                    {http.MethodPut, answer{202, map[string]string{arm.HeaderLocation: loc}, ``}, true, false, false},
		"202 with a relative Location":         {http.MethodDelete, answer{202, map[string]string{arm.HeaderLocation: "/subscriptions/s1/operationresults/1?api-version=v"}, ``}, true, false, false},
		"202 PUT without a URL":                {http.MethodPut, answer{202, nil, ``}, true, false, false},
		"202 DELETE without a URL":             {http.MethodDelete, answer{202, nil, ``}, false, true, false},
		"202 DELETE with AAO alone":            {http.MethodDelete, answer{202, map[string]string{arm.HeaderAsyncOperation: aao}, ``}, true, false, false},
		"204 DELETE":                           {http.MethodDelete, answer{204, nil, ``}, false, false, false},
		"200 POST":                             {http.MethodPost, answer{200, nil, `{"keys":[]}`}, false, false, false},
		"201 with AAO elsewhere":               {http.MethodPut, answer{201, map[string]string{arm.HeaderAsyncOperation: "https://rp.example/op"}, `{"properties":{"provisioningState":"Creating"}}`}, false, true, false},
		"201 with AAO elsewhere, no state":     {http.MethodPut, answer{201, map[string]string{arm.HeaderAsyncOperation: "https://rp.example/op"}, `{}`}, false, true, false},
		"202 with Location elsewhere":          {http.MethodDelete, answer{202, map[string]string{arm.HeaderLocation: "https://rp.example/op"}, ``}, false, true, false},
		"AAO elsewhere, Location at home":      {http.MethodPut, answer{202, map[string]string{arm.HeaderAsyncOperation: "https://rp.example/op", arm.HeaderLocation: loc}, ``}, true, false, false},
		"AAO elsewhere although Succeeded":     {http.MethodPut, answer{200, map[string]string{arm.HeaderAsyncOperation: "https://rp.example/op"}, `{"properties":{"provisioningState":"Succeeded"}}`}, false, false, false},
		"a poll URL of another scheme":         {http.MethodDelete, answer{202, map[string]string{arm.HeaderLocation: "http://127.0.0.1/op"}, ``}, false, true, false},
		"a poll URL that is none":              {http.MethodDelete, answer{202, map[string]string{arm.HeaderLocation: "::"}, ``}, false, true, false},
		"Operation-Location and a broken body": {http.MethodPut, answer{202, map[string]string{arm.HeaderOperationLocation: aao}, `<html>`}, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, tc.answer, answer{status: 500})
			resp, op, err := s.client(t, Options{}).Begin(t.Context(), Request{Method: tc.method, Path: vmssPath, APIVersion: "v"})
			if (err != nil) != tc.failed || resp == nil {
				t.Fatalf("got response %v and error %v", resp, err)
			}
			if (op != nil) != tc.operation || resp.PollResource != tc.resource {
				t.Errorf("got operation %v and PollResource %v, want %v and %v", op != nil, resp.PollResource, tc.operation, tc.resource)
			}
			if n := len(s.requests()); n != 1 {
				t.Errorf("got %d requests, want one", n)
			}
		})
	}
}

// polled is what Poll gave back.
type polled struct {
	Done    bool
	Percent int
	After   time.Duration
	Error   string
	Outcome Outcome
}

func TestPoll(t *testing.T) {
	t.Parallel()
	viaAAO := map[string]string{arm.HeaderAsyncOperation: aao}
	viaLocation := map[string]string{arm.HeaderLocation: loc}
	path := "GET /subscriptions/s1/providers/Microsoft.Compute/locations/we/"
	for name, tc := range map[string]struct {
		start map[string]string
		poll  answer
		want  polled
		gone  bool
	}{
		"AAO running":               {viaAAO, answer{200, map[string]string{"Retry-After": "100"}, `{"status":"Inprogress","percentComplete":42.5}`}, polled{Percent: 42, After: 100 * time.Second, Outcome: OK}, false},
		"AAO dequeued":              {viaAAO, answer{200, nil, `{"status":"Dequeued"}`}, polled{Outcome: OK}, false},
		"AAO 202":                   {viaAAO, answer{202, nil, `{"status":"InProgress"}`}, polled{Outcome: OK}, false},
		"AAO 202 without a body":    {viaAAO, answer{202, map[string]string{"Retry-After": "5"}, ``}, polled{After: 5 * time.Second, Outcome: OK}, false},
		"AAO 204":                   {viaAAO, answer{204, nil, ``}, polled{Done: true, Outcome: OK}, false},
		"AAO succeeded":             {viaAAO, answer{200, nil, `{"status":"succeeded"}`}, polled{Done: true, Outcome: OK}, false},
		"AAO without a status":      {viaAAO, answer{200, nil, `{"id":"x"}`}, polled{Done: true, Error: path + "operations/o1: the operation is not known any more: the response did not contain a status", Outcome: Retry}, true},
		"AAO HTML in a 200":         {viaAAO, answer{200, nil, `<html>`}, polled{Error: path + "operations/o1: invalid character '<' looking for beginning of value", Outcome: Retry}, false},
		"AAO failed":                {viaAAO, answer{200, nil, `{"status":"Failed","error":{"code":"AllocationFailed","message":"no room"}}`}, polled{Done: true, Error: path + "operations/o1: AllocationFailed: no room", Outcome: Failed}, false},
		"AAO cancelled":             {viaAAO, answer{200, nil, `{"status":"Canceled"}`}, polled{Done: true, Error: path + "operations/o1: Canceled: the operation ended as Canceled", Outcome: Failed}, false},
		"AAO failed on a neighbour": {viaAAO, answer{200, nil, `{"status":"Failed","error":{"code":"RetryableError"}}`}, polled{Done: true, Error: path + "operations/o1: RetryableError: the operation ended as Failed", Outcome: WaitDependency}, false},
		"AAO throttled":             {viaAAO, answer{429, map[string]string{"Retry-After": "80"}, ``}, polled{After: 80 * time.Second, Error: path + "operations/o1: 429 Too Many Requests", Outcome: Throttled}, false},
		"AAO 503 HTML":              {viaAAO, answer{503, map[string]string{"Retry-After": "60", "Content-Type": "text/html"}, `<html>`}, polled{After: 60 * time.Second, Error: path + "operations/o1: 503 Service Unavailable", Outcome: Retry}, false},
		"AAO 404":                   {viaAAO, answer{404, nil, ``}, polled{Done: true, Error: path + "operations/o1: the operation is not known any more: 404 Not Found", Outcome: Retry}, true},
		"Location running":          {viaLocation, answer{202, map[string]string{"Retry-After": "15"}, ``}, polled{After: 15 * time.Second, Outcome: OK}, false},
		"Location 200 empty":        {viaLocation, answer{200, nil, ``}, polled{Done: true, Outcome: OK}, false},
		"Location 204":              {viaLocation, answer{204, nil, ``}, polled{Done: true, Outcome: OK}, false},
		"Location 200 and running":  {viaLocation, answer{200, nil, `{"properties":{"provisioningState":"Creating"}}`}, polled{Outcome: OK}, false},
		"Location 200 failed":       {viaLocation, answer{200, nil, `{"properties":{"provisioningState":"Failed"}}`}, polled{Done: true, Error: path + "results/o1: Failed: the operation ended as Failed", Outcome: Failed}, false},
		"Location 409":              {viaLocation, answer{409, nil, `{"error":{"code":"CannotDeleteResource","message":"nested"}}`}, polled{Done: true, Error: path + "results/o1: CannotDeleteResource: nested", Outcome: WaitDependency}, false},
		"Location 429":              {viaLocation, answer{429, map[string]string{"Retry-After": "3"}, ``}, polled{After: 3 * time.Second, Error: path + "results/o1: 429 Too Many Requests", Outcome: Throttled}, false},
		"Location 401":              {viaLocation, answer{401, nil, ``}, polled{Error: path + "results/o1: 401 Unauthorized", Outcome: Unauthorized}, false},
		"Location 404":              {viaLocation, answer{404, nil, ``}, polled{Done: true, Error: path + "results/o1: the operation is not known any more: 404 Not Found", Outcome: Retry}, true},
		"body running":              {nil, answer{200, nil, `{"properties":{"provisioningState":"Updating"}}`}, polled{Outcome: OK}, false},
		"body done":                 {nil, answer{200, nil, `{"properties":{}}`}, polled{Done: true, Outcome: OK}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, answer{202, tc.start, ``}, tc.poll)
			c := s.client(t, Options{})
			_, op, err := c.Begin(t.Context(), Request{Method: http.MethodPut, Path: vmssPath, APIVersion: "v"})
			if err != nil || op == nil {
				t.Fatalf("got operation %v and error %v", op, err)
			}
			token, err := op.Token()
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(token, secretToken) {
				t.Errorf("the token is in %s", token)
			}
			if op, err = c.Resume(token); err != nil {
				t.Fatal(err)
			}
			got := polled{}
			got.Done, got.Percent, got.After, err = c.Poll(t.Context(), op)
			if err != nil {
				got.Error = err.Error()
			}
			if errors.Is(err, ErrOperationGone) != tc.gone {
				t.Errorf("gone is %v, want %v", !tc.gone, tc.gone)
			}
			got.Outcome, _ = Classify(http.MethodPut, err)
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
			if !got.Done {
				again, err := op.Token()
				if err != nil || again == "" {
					t.Errorf("the token was lost: %v", err)
				}
			}
		})
	}
}

func TestPollSurvivesFailures(t *testing.T) {
	t.Parallel()
	s := newServer(t, answer{202, map[string]string{arm.HeaderLocation: loc}, ``}, answer{401, nil, ``}, answer{status: 202}, answer{status: 204})
	c := s.client(t, Options{})
	_, op, err := c.Begin(t.Context(), Request{Method: http.MethodDelete, Path: vmssPath})
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for range 3 {
		done, _, _, _ := c.Poll(t.Context(), op)
		got = append(got, done)
	}
	if d := cmp.Diff([]bool{false, false, true}, got); d != "" {
		t.Error(d)
	}
}

func TestPollStaysHome(t *testing.T) {
	t.Parallel()
	evil := newServer(t, answer{status: 200, body: `{}`})
	s := newServer(t, answer{202, map[string]string{arm.HeaderLocation: loc}, ``},
		answer{202, map[string]string{arm.HeaderLocation: evil.URL + "/op"}, ``}, answer{status: 204})
	c := s.client(t, Options{})
	_, op, err := c.Begin(t.Context(), Request{Method: http.MethodDelete, Path: vmssPath})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true} {
		if done, _, _, err := c.Poll(t.Context(), op); done != want || err != nil {
			t.Errorf("poll %d: got %v, %v, want %v", i, done, err, want)
		}
	}
	if got := evil.requests(); len(got) != 0 {
		t.Errorf("the other server saw %q", got)
	}
}

func TestResult(t *testing.T) {
	t.Parallel()
	s := newServer(t, answer{202, map[string]string{arm.HeaderLocation: loc}, ``}, answer{200, nil, `{"value":1}`})
	c := s.client(t, Options{})
	_, op, err := c.Begin(t.Context(), Request{Method: http.MethodPost, Path: vmssPath + "/listKeys"})
	if err != nil {
		t.Fatal(err)
	}
	if done, _, _, err := c.Poll(t.Context(), op); !done || err != nil {
		t.Fatalf("got %v, %v", done, err)
	}
	m, err := c.Result(t.Context(), op)
	if err != nil || len(m) != 1 {
		t.Errorf("got %v, %v", m, err)
	}
}

func FuzzResume(f *testing.F) {
	for _, s := range []string{
		"", "null", "{}", "[]", `{"type":"result","token":null}`, `{"type":"result","token":{"fakeURL":"https://arm.test/x"}}`,
		`{"type":"result","token":{"asyncURL":"https://arm.test/x","state":"InProgress"}}`,
		`{"type":"result","token":{"asyncURL":"https://Arm.test#0"}}`,
		`{"type":"result","token":{"asyncURL":"https://arm.test/x","fakeURL":"https://arm.test/x"}}`,
		`{"type":"result","token":{"type":"loc","pollURL":"https://arm.test/x","state":"Failed"}}`,
		`{"type":"result","token":{"type":"body","pollURL":"https://evil.test/x","state":""}}`,
	} {
		f.Add(s)
	}
	c, err := New(Cloud{Endpoint: "https://arm.test", Audience: "a"}, nil, Options{Transport: refuseAll{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, token string) {
		op, err := c.Resume(token)
		if err != nil {
			return
		}
		if done, _, _, err := c.Poll(t.Context(), op); done && err == nil {
			t.Errorf("%q ended well without an answer", token)
		}
	})
}

type refuseAll struct{}

func (refuseAll) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.EqualFold(r.URL.Hostname(), "arm.test") {
		panic("sent to " + r.URL.Host)
	}
	return nil, errors.New("nobody there")
}

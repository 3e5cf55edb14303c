package armsim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-dev/armature/pkg/arm"
)

// Entry is one request and its answer, as /_armature/journal shows it. It
// holds bodies as they were, but no Authorization and no request for a token.
type Entry struct {
	// Seq grows by one a request, and goes on when the journal is cleared.
	Seq  int    `json:"seq"`
	Time string `json:"time"`
	// Status is 0 where the connection was cut before an answer.
	Method          string            `json:"method"`
	Path            string            `json:"path"`
	Query           string            `json:"query,omitempty"`
	Headers         map[string]string `json:"headers"`
	Body            json.RawMessage   `json:"body,omitempty"`
	Status          int               `json:"status"`
	ResponseHeaders map[string]string `json:"responseHeaders"`
	Response        json.RawMessage   `json:"response,omitempty"`
}

// journal keeps the latest requests.
type journal struct {
	seq     int
	entries []*Entry
}

const maxJournal = 50_000

func pick(get func(string) string, names ...string) map[string]string {
	out := map[string]string{}
	for _, n := range names {
		if v := get(n); v != "" {
			out[n] = v
		}
	}
	return out
}

func rawJSON(b []byte) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	if json.Valid(b) {
		return b
	}
	text, _ := json.Marshal(string(b)) //nolint:errchkjson // a string
	return text
}

// record adds a request to the journal. Status 0 stands for no answer.
func (s *Server) record(q *request, path string, resp response, body []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal.seq++
	s.journal.entries = append(s.journal.entries, &Entry{
		Seq: s.journal.seq, Time: stamp(q.now), Method: q.method, Path: path, Query: q.query.Encode(),
		Headers: pick(q.header.Get, "If-Match", "If-None-Match", "Content-Type"), Body: rawJSON(q.body), Status: resp.status,
		ResponseHeaders: pick(func(n string) string { return resp.header[n] }, "ETag", "Location", "Azure-AsyncOperation", "Retry-After"),
		Response:        rawJSON(body),
	})
	if n := len(s.journal.entries); n > maxJournal {
		s.journal.entries = slices.Clone(s.journal.entries[n-maxJournal/2:])
	}
	return s.journal.seq
}

// recordBody adds the answer's body to an entry.
func (s *Server) recordBody(seq int, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(s.journal.entries) {
		if e.Seq == seq {
			e.Response = rawJSON(body)
			return
		}
	}
}

// Journal lists the requests so far, oldest first.
func (s *Server) Journal() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.find(func(*Entry) bool { return true })
}

func (j *journal) find(wanted func(*Entry) bool) []Entry {
	found := []Entry{}
	for _, e := range j.entries {
		if wanted(e) {
			found = append(found, *e)
		}
	}
	return found
}

// serveJournal answers GET and DELETE of the journal. GET takes filters:
// method (several with commas), id, prefix (of the path), type (of the
// resource, its actions and views too) and since (a seq; what came after).
func (s *Server) serveJournal(q *request) response {
	switch q.method {
	case http.MethodDelete:
		s.journal.entries = nil
		return ok(http.StatusNoContent, nil)
	case http.MethodGet:
	default:
		return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET or DELETE")
	}
	since := 0
	if text := q.query.Get("since"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fail(http.StatusBadRequest, "InvalidFilter", "expected since to be the seq of an entry, found '%s'", text)
		}
		since = n
	}
	methods, id, prefix := q.query.Get("method"), strings.TrimRight(q.query.Get("id"), "/"), strings.ToLower(q.query.Get("prefix"))
	typ := q.query.Get("type")
	return ok(http.StatusOK, s.journal.find(func(e *Entry) bool {
		return e.Seq > since &&
			(methods == "" || slices.ContainsFunc(strings.Split(methods, ","), func(m string) bool { return strings.EqualFold(m, e.Method) })) &&
			(id == "" || strings.EqualFold(strings.TrimRight(e.Path, "/"), id)) &&
			strings.HasPrefix(strings.ToLower(e.Path), prefix) &&
			(typ == "" || strings.EqualFold(typeOf(e.Path), typ))
	}))
}

// typeOf is the ARM type of what a path names, or of what its action, view or
// tags belong to; "" where there is none.
func typeOf(path string) string {
	path = strings.TrimRight(path, "/")
	if n := len(path) - len(tagsSuffix); n > 0 && strings.EqualFold(path[n:], tagsSuffix) {
		path = path[:n]
	}
	for range 2 {
		if id, err := arm.ParseID(path); err == nil {
			return id.Type()
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
	return ""
}

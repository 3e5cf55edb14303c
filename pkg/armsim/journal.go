package armsim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// entry is one request and its answer, as /_armature/journal shows it.
type entry struct {
	Seq             int               `json:"seq"`
	Time            string            `json:"time"`
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
	entries []*entry
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
	s.journal.entries = append(s.journal.entries, &entry{
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

// serveJournal answers GET and DELETE of the journal.
func (s *Server) serveJournal(q *request) response {
	if q.method == http.MethodDelete {
		s.journal.entries = nil
		return ok(http.StatusNoContent, nil)
	}
	methods, id, prefix := q.query.Get("method"), q.query.Get("id"), strings.ToLower(q.query.Get("prefix"))
	found := []entry{}
	for _, e := range s.journal.entries {
		if methods != "" && !slices.ContainsFunc(strings.Split(methods, ","), func(m string) bool { return strings.EqualFold(m, e.Method) }) {
			continue
		}
		if id != "" && !strings.EqualFold(strings.TrimRight(e.Path, "/"), strings.TrimRight(id, "/")) || !strings.HasPrefix(strings.ToLower(e.Path), prefix) {
			continue
		}
		found = append(found, *e)
	}
	return ok(http.StatusOK, found)
}

package armsim

import (
	"encoding/json"
	"net/http"

	"github.com/armature-dev/armature/pkg/field"
)

// admin answers what lies below /_armature: the simulator's own side, which
// asks for no token.
func (s *Server) admin(q *request, seg []string) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.settle(q.now)
	switch {
	case is(seg, "healthz"):
		return ok(http.StatusOK, map[string]any{"status": "ok"})
	case is(seg, "identity", "token"):
		return s.managedIdentity(q)
	case is(seg, "journal"):
		return s.serveJournal(q)
	case is(seg, "faults"):
		return s.serveFaults(q)
	case is(seg, "clock") && q.method == http.MethodPost:
		var in struct {
			Finish bool `json:"finish"`
		}
		if err := json.Unmarshal(q.body, &in); err != nil {
			return fail(http.StatusBadRequest, "InvalidRequestContent", `expected {"finish":true}`)
		}
		if in.Finish {
			s.store.finishAll(q.now)
		}
		return ok(http.StatusNoContent, nil)
	case is(seg, "resource"):
		return s.adminResource(q)
	case is(seg, "resources"):
		return s.adminResources(q)
	}
	return fail(http.StatusNotFound, "NotFound", "expected /_armature/journal, resource, resources, faults, clock, identity/token or healthz")
}

// adminResource reads, changes or deletes a resource as somebody else in
// Azure would: without operations, conditions and validation.
func (s *Server) adminResource(q *request) response {
	id := q.query.Get("id")
	switch q.method {
	case http.MethodGet:
		r, _, e := s.find(id)
		if e != nil {
			return failWith(e)
		}
		if r == nil {
			return failWith(absent(id))
		}
		resp := ok(http.StatusOK, s.store.full(r))
		if hasETag(r.desc) {
			resp = resp.with("ETag", r.etag)
		}
		return resp
	case http.MethodDelete:
		if e := s.drop(id); e != nil {
			return failWith(e)
		}
		return ok(http.StatusNoContent, nil)
	case http.MethodPut:
		patch, err := field.DecodeObject(q.body)
		if err != nil || patch == nil {
			return fail(http.StatusBadRequest, "InvalidRequestContent", "expected a JSON object")
		}
		r, created, e := s.change(q.now, id, patch)
		if e != nil {
			return failWith(e)
		}
		status := http.StatusOK
		if created {
			status = http.StatusCreated
		}
		return ok(status, s.store.full(r))
	}
	return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET, PUT or DELETE")
}

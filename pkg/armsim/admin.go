package armsim

import (
	"encoding/json"
	"net/http"

	"github.com/armature-dev/armature/pkg/arm"
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
	}
	return fail(http.StatusNotFound, "NotFound", "expected /_armature/journal, resource, faults, clock, identity/token or healthz")
}

// adminResource reads, changes or deletes a resource as somebody else in
// Azure would: without operations, conditions and validation.
func (s *Server) adminResource(q *request) response {
	id, err := arm.ParseID(q.query.Get("id"))
	if err != nil {
		return fail(http.StatusBadRequest, "InvalidResourceId", "%v", err)
	}
	r := s.store.get(id)
	d := s.catalog.ByType(id.Type())
	if r == nil && (d == nil || q.method != http.MethodPut) {
		return fail(http.StatusNotFound, "ResourceNotFound", "no resource '%s'", id)
	}
	switch q.method {
	case http.MethodGet:
		resp := ok(http.StatusOK, s.store.full(r))
		if hasETag(r.desc) {
			resp = resp.with("ETag", r.etag)
		}
		return resp
	case http.MethodDelete:
		parent := s.store.shownIn(r)
		s.store.remove(r.key)
		s.store.touch(parent)
		return ok(http.StatusNoContent, nil)
	case http.MethodPut:
		patch, err := field.DecodeObject(q.body)
		if err != nil || patch == nil {
			return fail(http.StatusBadRequest, "InvalidRequestContent", "expected a JSON object")
		}
		if resp, missing := s.missingScope(q, canonical(id, d), d); missing {
			return resp
		}
		return s.adminPut(canonical(id, d), r, patch)
	}
	return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET, PUT or DELETE")
}

func (s *Server) adminPut(id arm.ID, r *record, patch map[string]any) response {
	var old map[string]any
	if r != nil {
		old = r.body
	}
	body, err := merge(old, patch)
	if err != nil {
		return fail(http.StatusBadRequest, "InvalidRequestContent", "%v", err)
	}
	for _, n := range []string{"id", "name", "type", "etag"} {
		delete(body, n)
	}
	status := http.StatusOK
	if r == nil {
		status = http.StatusCreated
		r = s.store.put(id, s.catalog.ByType(id.Type()))
		if _, ok := body[properties].(map[string]any); !ok && r.desc.Body.Fields[properties] != nil {
			body[properties] = map[string]any{}
		}
		defer s.store.touch(r)
		touched := s.setBody(r, body)
		s.state(touched, arm.Succeeded)
	} else {
		touched := s.setBody(r, body)
		s.state(touched[1:], arm.Succeeded)
	}
	s.store.touch(r)
	return ok(status, s.store.full(r))
}

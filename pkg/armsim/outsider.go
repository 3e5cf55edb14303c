package armsim

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

// Get returns a resource as stored, with what no GET of ARM shows (secrets);
// false where there is none. The body is the caller's own.
func (s *Server) Get(id string) (map[string]any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.settle(s.opts.Clock())
	r, _, err := s.find(id)
	if err != nil || r == nil {
		return nil, false
	}
	return s.store.full(r), true
}

// Put plays somebody else in Azure: body is merged (RFC 7396) into the
// resource, or becomes a new one, at once and without validation. Its group
// and parent must exist.
func (s *Server) Put(id string, body map[string]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opts.Clock()
	s.store.settle(now)
	if _, _, err := s.change(now, id, field.CloneObject(body)); err != nil {
		return fmt.Errorf("changing %s: %w", id, err)
	}
	return nil
}

// Delete plays somebody else in Azure, too: the resource and all that lies in
// it are gone at once. Deleting what is not there is an *arm.Error with status
// 404.
func (s *Server) Delete(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.settle(s.opts.Clock())
	if err := s.drop(id); err != nil {
		return fmt.Errorf("deleting %s: %w", id, err)
	}
	return nil
}

// FinishOperations ends all running operations as if their time had come.
func (s *Server) FinishOperations() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.finishAll(s.opts.Clock())
}

// find is the record and descriptor of an ID; no record where the resource
// does not exist.
func (s *Server) find(text string) (*record, *resource.Descriptor, *arm.Error) {
	id, err := arm.ParseID(text)
	if err != nil {
		return nil, nil, &arm.Error{Status: http.StatusBadRequest, Code: "InvalidResourceId", Message: err.Error()}
	}
	d := s.catalog.ByType(id.Type())
	if d == nil {
		return nil, nil, &arm.Error{Status: http.StatusNotFound, Code: "InvalidResourceType", Message: "The catalog has no type '" + id.Type() + "'."}
	}
	return s.store.get(id), d, nil
}

func absent(text string) *arm.Error {
	return &arm.Error{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: "There is no resource '" + text + "'."}
}

func (s *Server) drop(text string) *arm.Error {
	r, _, err := s.find(text)
	if err != nil {
		return err
	}
	if r == nil {
		return absent(text)
	}
	parent := s.store.shownIn(r)
	s.store.remove(r.key)
	s.store.touch(parent)
	return nil
}

// change merges a patch into a resource or makes it; true where it was made.
func (s *Server) change(now time.Time, text string, patch map[string]any) (*record, bool, *arm.Error) {
	r, d, refused := s.find(text)
	if refused != nil {
		return nil, false, refused
	}
	var old map[string]any
	if r != nil {
		old = r.body
	}
	body, err := merge(old, patch)
	if err != nil {
		return nil, false, &arm.Error{Status: http.StatusBadRequest, Code: "InvalidRequestContent", Message: err.Error()}
	}
	for _, n := range []string{"id", "name", "type", "etag"} {
		delete(body, n)
	}
	created := r == nil
	if created {
		id, _ := arm.ParseID(text)
		id = canonical(id, d)
		if resp, missing := s.missingScope(&request{method: http.MethodPut}, id, d); missing {
			return nil, false, errorOf(resp)
		}
		r = s.store.put(id, d)
		if _, ok := body[properties].(map[string]any); !ok && d.Body.Fields[properties] != nil {
			body[properties] = map[string]any{}
		}
	}
	touched := s.setBody(r, body)
	for _, t := range touched {
		t.author(outsider, now)
	}
	if !created {
		touched = touched[1:]
	}
	s.stateUnsaid(touched)
	s.store.touch(r)
	return r, created, nil
}

// stateUnsaid gives resources the state Succeeded where they have none.
func (s *Server) stateUnsaid(records []*record) {
	for _, r := range records {
		if arm.ProvisioningState(r.body) == "" {
			setState(r.desc.Body, r.body, arm.Succeeded)
		}
	}
}

// errorOf is the error that a refusal carries.
func errorOf(resp response) *arm.Error {
	if m, ok := resp.body.(map[string]any); ok {
		if e, ok := m["error"].(*arm.Error); ok {
			return e
		}
	}
	return &arm.Error{Status: resp.status}
}

// adminResources answers /_armature/resources: GET is a snapshot of all
// bodies, parents first; POST restores one, or seeds from one body or a list
// of them, each with its id; DELETE forgets all resources and operations.
func (s *Server) adminResources(q *request) response {
	switch q.method {
	case http.MethodGet:
		all := []any{}
		for _, r := range s.store.ordered() {
			all = append(all, s.store.full(r))
		}
		return ok(http.StatusOK, all)
	case http.MethodDelete:
		s.store = newStore(s.catalog)
		return ok(http.StatusNoContent, nil)
	case http.MethodPost:
		bodies, err := readBodies(q.body)
		if err != nil {
			return fail(http.StatusBadRequest, "InvalidRequestContent", "%v", err)
		}
		for i, b := range bodies {
			id, _ := b["id"].(string)
			if _, _, e := s.change(q.now, id, b); e != nil {
				e.Message = fmt.Sprintf("resource %d of %d: %s", i+1, len(bodies), e.Message)
				return failWith(e)
			}
		}
		return ok(http.StatusOK, map[string]any{"count": len(bodies)})
	}
	return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET, POST or DELETE")
}

// ordered lists all resources, parents before what lies in them.
func (s *store) ordered() []*record {
	all := make([]*record, 0, len(s.records))
	for _, r := range s.records {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *record) int {
		if n := strings.Count(a.key, "/") - strings.Count(b.key, "/"); n != 0 {
			return n
		}
		return strings.Compare(a.key, b.key)
	})
	return all
}

func readBodies(text []byte) ([]map[string]any, error) {
	v, err := field.Decode(text)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var bodies []map[string]any
	for _, item := range list {
		b, ok := item.(map[string]any)
		if !ok {
			return nil, errors.New("expected a resource with its id, or a list of them")
		}
		bodies = append(bodies, b)
	}
	return bodies, nil
}

package armsim

import (
	"encoding/json"
	"net/http"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

// write handles PUT and PATCH of a resource.
func (s *Server) write(q *request, id arm.ID, d *resource.Descriptor) response {
	sent, err := field.DecodeObject(q.body)
	if err != nil || sent == nil {
		return fail(http.StatusBadRequest, "InvalidRequestContent", "The request content was invalid and could not be read: expected a JSON object.")
	}
	r := s.store.get(id)
	if r == nil && q.method == http.MethodPatch {
		return notFound(id, d)
	}
	if resp, refused := precondition(q, r); refused {
		return resp
	}
	if op := s.store.busy(id, d); op != nil {
		return s.conflict(q, op)
	}
	next, resp := s.next(q, id, d, r, sent)
	if next == nil {
		return resp
	}
	return s.apply(q, id, d, r, next)
}

// precondition checks If-Match and If-None-Match.
func precondition(q *request, r *record) (response, bool) {
	failed := func() (response, bool) {
		return fail(http.StatusPreconditionFailed, "PreconditionFailed",
			"Precondition failed: the resource does not match the request's If-Match or If-None-Match header."), true
	}
	if match := q.header.Get("If-Match"); match != "" {
		if r == nil || match != "*" && hasETag(r.desc) && !sameTag(match, r.etag) {
			return failed()
		}
	}
	if match := q.header.Get("If-None-Match"); match != "" && r != nil {
		if match == "*" || hasETag(r.desc) && sameTag(match, r.etag) {
			return failed()
		}
	}
	return response{}, false
}

// sameTag compares an etag with a header's list of them, weakly (RFC 9110,
// 8.8.3.2).
func sameTag(list, etag string) bool {
	bare := func(s string) string { return strings.Trim(strings.TrimPrefix(strings.TrimSpace(s), "W/"), `"`) }
	for t := range strings.SplitSeq(list, ",") {
		if bare(t) == bare(etag) {
			return true
		}
	}
	return false
}

func (s *Server) conflict(q *request, op *operation) response {
	return fail(http.StatusConflict, "AnotherOperationInProgress",
		"Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: %s.", s.operationURL(q, op, "operations"))
}

// next is the body that a write leads to, nil and the refusal where it is
// refused. Lists of children are still in it.
func (s *Server) next(q *request, id arm.ID, d *resource.Descriptor, r *record, sent map[string]any) (map[string]any, response) {
	if resp, refused := s.refusedBody(q, id, d, r, sent); refused {
		return nil, resp
	}
	var old map[string]any
	if r != nil {
		old = r.body
	}
	accepted, _ := accept(d.Body, sent, q.method == http.MethodPatch).(map[string]any)
	if q.method == http.MethodPatch {
		merged, err := patched(old, accepted)
		if err != nil {
			return nil, fail(http.StatusBadRequest, "InvalidRequestContent", "The patch could not be applied: %v.", err)
		}
		accepted = merged
	}
	if _, ok := accepted[properties]; !ok && d.Body.Fields[properties] != nil {
		accepted[properties] = map[string]any{}
	}
	if r != nil {
		if resp, refused := refusedChange(r, accepted); refused {
			return nil, resp
		}
	}
	next, _ := replace(d.Body, accepted, old, q.method == http.MethodPut).(map[string]any)
	if resp, refused := s.refusedChildren(id, d, next); refused {
		return nil, resp
	}
	if resp, refused := s.refusedReference(id, d, accepted); refused {
		return nil, resp
	}
	return next, response{}
}

// patched is old after a PATCH: a merge patch, except that tags are replaced
// whole (contract, "Patching a resource").
func patched(old, patch map[string]any) (map[string]any, error) {
	merged, err := merge(old, patch)
	if err != nil {
		return nil, err
	}
	if tags := patch["tags"]; tags != nil {
		merged["tags"], err = merge(nil, tags)
	}
	return merged, err
}

// merge applies a JSON merge patch (RFC 7396) to a copy of old.
func merge(old map[string]any, patch any) (map[string]any, error) {
	if old == nil {
		old = map[string]any{}
	}
	doc, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	p, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	b, err := jsonpatch.MergePatch(doc, p)
	if err != nil {
		return nil, err
	}
	m, err := field.DecodeObject(b)
	if m == nil && err == nil {
		m = map[string]any{}
	}
	return m, err
}

// apply stores the body and starts the operation where the type has one.
func (s *Server) apply(q *request, id arm.ID, d *resource.Descriptor, r *record, next map[string]any) response {
	created := r == nil
	if created {
		r = s.store.put(id, d)
	}
	if q.method == http.MethodPut {
		r.id = id // stored as last spelled
	}
	touched := s.setBody(r, next)
	for _, t := range touched {
		invent(t.desc.Body, t.body, q.now)
		t.author(q.principal, q.now)
	}
	s.store.touch(r)
	m := s.mannerOf(d, q.method, created)
	if !m.lro {
		s.state(touched, arm.Succeeded)
		return s.answerWith(m.status, r)
	}
	op := s.newOperation(q, id, d)
	op.code, op.show, op.creates = http.StatusOK, r, created
	s.store.begin(op, touched...)
	if created {
		s.state(touched, "Creating")
	} else {
		s.state(touched, "Updating")
	}
	s.store.settle(q.now)
	resp := s.answerWith(m.status, r)
	if m.status == http.StatusAccepted && q.method == http.MethodPut {
		resp = ok(m.status, nil)
	}
	return s.follow(q, resp, op, m.async, m.location)
}

func (s *Server) state(records []*record, state string) {
	for _, r := range records {
		setState(r.desc.Body, r.body, state)
	}
}

// setBody stores a body. A list of children that it holds becomes these
// children, and those not in it are gone; a list that it lacks changes none.
// The records written are returned, r first.
func (s *Server) setBody(r *record, body map[string]any) []*record {
	touched := []*record{r}
	for _, x := range s.store.shown[r.desc] {
		v, has := take(body, x.path)
		items, _ := v.([]any)
		if !has || v == nil {
			continue
		}
		keep := map[string]bool{}
		for _, item := range items {
			m, _ := item.(map[string]any)
			k := s.setChild(r, x.desc, m)
			if k == nil {
				continue
			}
			keep[k.key] = true
			touched = append(touched, k)
		}
		for _, k := range s.store.children(r.key) {
			if k.desc == x.desc && !keep[k.key] {
				s.store.remove(k.key)
			}
		}
	}
	r.body = body
	return touched
}

// setChild writes one item of a list of children; nil where it has no usable
// name.
func (s *Server) setChild(parent *record, d *resource.Descriptor, item map[string]any) *record {
	name, _ := field.Leaf(item, "name")
	id, err := parent.id.Child(d.LastType(), name)
	if err != nil || name == "" {
		return nil
	}
	k := s.store.get(id)
	if k == nil {
		k = s.store.put(id, d)
	}
	sent, _ := accept(d.Body, item, false).(map[string]any)
	body, _ := replace(d.Body, sent, k.body, true).(map[string]any)
	for _, n := range []string{"id", "name", "type", "etag"} {
		delete(body, n)
	}
	s.setBody(k, body)
	k.etag = `W/"` + newUUID() + `"`
	return k
}

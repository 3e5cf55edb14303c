package armsim

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/resource"
)

// newOperation prepares an operation that starts now.
func (s *Server) newOperation(q *request, id arm.ID, d *resource.Descriptor) *operation {
	location := "global"
	if r := s.store.get(id); r != nil {
		if l, _ := r.body["location"].(string); l != "" {
			location = strings.ToLower(strings.ReplaceAll(l, " ", ""))
		}
	}
	op := &operation{
		namespace: d.Namespace(), scope: "/subscriptions/" + id.SubscriptionID, location: location,
		start: q.now, end: q.now.Add(s.opts.OperationDuration), polls: s.opts.OperationPolls,
	}
	if q.fault != nil && q.fault.FailOperation {
		op.err = q.fault.operationError()
	}
	if q.fault != nil && q.fault.CancelOperation {
		op.err, op.canceled = q.fault.operationError(), true
	}
	if op.err != nil && s.opts.OperationDuration == 0 {
		// What fails at once is refused; an operation that fails was accepted
		// first.
		op.polls = max(1, op.polls)
	}
	if op.polls > 0 && s.opts.OperationDuration == 0 {
		op.end = q.now.Add(endless)
	}
	return op
}

func (s *Server) operationURL(q *request, op *operation, kind string) string {
	version := q.query.Get("api-version")
	return q.base + op.scope + "/providers/" + op.namespace + "/locations/" + url.PathEscape(op.location) + "/" + kind + "/" + op.id +
		"?api-version=" + url.QueryEscape(version)
}

// follow adds the URLs of an operation to the answer that starts it.
func (s *Server) follow(q *request, resp response, op *operation, async, location bool) response {
	if async {
		resp = resp.with(arm.HeaderAsyncOperation, s.operationURL(q, op, "operations"))
	}
	if location {
		resp = resp.with(arm.HeaderLocation, s.operationURL(q, op, "operationResults"))
	}
	return resp.with(arm.HeaderRetryAfter, s.retryAfter())
}

func operationNotFound(id string) response {
	return fail(http.StatusNotFound, "OperationNotFound", "The operation '%s' could not be found.", id)
}

// asyncOperation answers the Azure-AsyncOperation URL.
func (s *Server) asyncOperation(q *request, id string) response {
	op := s.store.ops[id]
	if op == nil || q.method != http.MethodGet {
		return operationNotFound(id)
	}
	s.store.poll(op, q.now)
	body := map[string]any{
		"id":   op.scope + "/providers/" + op.namespace + "/locations/" + op.location + "/operations/" + op.id,
		"name": op.id, "status": op.status, "percentComplete": op.percent(q.now), "startTime": stamp(op.start),
	}
	if op.status == inProgress {
		return ok(http.StatusOK, body).with(arm.HeaderRetryAfter, s.retryAfter())
	}
	body["endTime"] = stamp(op.end)
	if op.err != nil {
		body["error"] = op.err
	} else if op.result != nil {
		body[properties] = map[string]any{"output": op.result}
	}
	return ok(http.StatusOK, body)
}

// operationResult answers the Location URL.
func (s *Server) operationResult(q *request, id string) response {
	op := s.store.ops[id]
	if op == nil || q.method != http.MethodGet {
		return operationNotFound(id)
	}
	s.store.poll(op, q.now)
	if op.status == inProgress {
		return s.follow(q, ok(http.StatusAccepted, nil), op, false, true)
	}
	if op.err != nil {
		e := *op.err
		e.Status = http.StatusConflict
		return failWith(&e)
	}
	if op.show != nil {
		if s.store.records[op.show.key] != op.show {
			return notFound(op.show.id, op.show.desc)
		}
		return s.answerWith(op.code, op.show)
	}
	return ok(op.code, op.result)
}

// delete handles DELETE.
func (s *Server) delete(q *request, id arm.ID, d *resource.Descriptor) response {
	r := s.store.get(id)
	verb := d.Verbs[http.MethodDelete]
	if r == nil {
		if len(verb.Codes) > 0 && !slices.Contains(verb.Codes, http.StatusNoContent) {
			return notFound(id, d)
		}
		return ok(http.StatusNoContent, nil)
	}
	if resp, refused := precondition(q, r); refused {
		return resp
	}
	both := verb.FinalState != ""
	if op := r.op; op != nil && op.deletes {
		return s.follow(q, ok(http.StatusAccepted, nil), op, both, true)
	}
	if op := s.store.busy(id, d); op != nil {
		return s.conflict(q, op)
	}
	final := http.StatusOK
	if len(verb.Codes) > 0 && !slices.Contains(verb.Codes, http.StatusOK) {
		final = http.StatusNoContent
	}
	if !verb.LRO {
		parent := s.store.shownIn(r)
		s.store.remove(r.key)
		s.store.touch(parent)
		return ok(final, nil)
	}
	op := s.newOperation(q, id, d)
	op.deletes, op.code = true, final
	s.store.begin(op, r)
	setState(d.Body, r.body, "Deleting")
	s.store.settle(q.now)
	return s.follow(q, ok(http.StatusAccepted, nil), op, both, true)
}

package armsim

import (
	"net/http"
	"slices"
	"strings"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/field"
)

// subscriptions lists the subscriptions: those configured, or those in use.
func (s *Server) subscriptions(q *request) response {
	if q.method != http.MethodGet {
		return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET")
	}
	ids := slices.Clone(s.opts.Subscriptions)
	if len(ids) == 0 {
		for _, r := range s.store.records {
			if id := strings.ToLower(r.id.SubscriptionID); id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
	}
	items := []any{}
	for _, id := range ids {
		items = append(items, s.subscriptionBody(id))
	}
	return ok(http.StatusOK, map[string]any{"value": items, "count": map[string]any{"type": "Total", "value": len(items)}})
}

func (s *Server) subscriptionBody(id string) map[string]any {
	return map[string]any{
		"id": "/subscriptions/" + id, "subscriptionId": id, "tenantId": s.tenant(),
		"displayName": "Simulated", "state": "Enabled", "authorizationSource": "RoleBased",
	}
}

func (s *Server) subscription(q *request, id string) response {
	if q.method != http.MethodGet {
		return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET")
	}
	return ok(http.StatusOK, s.subscriptionBody(id))
}

// tagged is something that has tags, as the tags resource sees it.
type tagged struct {
	id   string
	tags map[string]any
	// set stores new tags, or refuses.
	set func(next map[string]any) (response, bool)
}

// taggedAt finds what a scope's tags belong to; nil and the refusal where
// there is nothing that can have any.
func (s *Server) taggedAt(q *request, scope string) (*tagged, response) {
	id, err := arm.ParseID(scope)
	if err != nil {
		return nil, fail(http.StatusNotFound, "InvalidResourceId", "The scope '%s' can't be read.", scope)
	}
	if strings.EqualFold(id.Type(), "Microsoft.Resources/subscriptions") {
		key := strings.ToLower(id.SubscriptionID)
		return &tagged{id: id.String(), tags: s.subscriptionTags[key], set: func(next map[string]any) (response, bool) {
			s.subscriptionTags[key] = next
			return response{}, false
		}}, response{}
	}
	d := s.catalog.ByType(id.Type())
	if d == nil || d.Body.Fields["tags"] == nil {
		return nil, fail(http.StatusNotFound, "InvalidResourceType", "Resources of type '%s' have no tags.", id.Type()).gateway()
	}
	id = canonical(id, d)
	if resp, missing := s.missingScope(q, id, d); missing {
		return nil, resp
	}
	r := s.store.get(id)
	if r == nil {
		return nil, notFound(id, d)
	}
	have, _ := r.body["tags"].(map[string]any)
	return &tagged{id: r.id.String(), tags: have, set: func(next map[string]any) (response, bool) {
		if op := s.store.busy(id, d); op != nil {
			return s.conflict(q, op), true
		}
		r.body["tags"] = next
		r.author(q.principal, q.now)
		s.store.touch(r)
		return response{}, false
	}}, response{}
}

// tags answers the tags of a subscription, group or resource as a resource of
// their own.
func (s *Server) tags(q *request, scope string) response {
	t, resp := s.taggedAt(q, scope)
	if t == nil {
		return resp
	}
	have := t.tags
	switch q.method {
	case http.MethodGet:
	case http.MethodPut, http.MethodPatch, http.MethodDelete:
		next, resp := nextTags(q, have)
		if next == nil {
			return resp
		}
		if resp, refused := t.set(next); refused {
			return resp
		}
		if q.method == http.MethodDelete {
			return ok(http.StatusOK, nil)
		}
		have = next
	default:
		return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET, PUT, PATCH or DELETE")
	}
	if have == nil {
		have = map[string]any{}
	}
	return ok(http.StatusOK, map[string]any{
		"id": t.id + "/providers/Microsoft.Resources/tags/default", "name": "default",
		"type": "Microsoft.Resources/tags", properties: map[string]any{"tags": have},
	})
}

// nextTags is what a write of the tags resource leads to; nil and the refusal
// where it is refused.
func nextTags(q *request, have map[string]any) (map[string]any, response) {
	next := map[string]any{}
	if q.method == http.MethodDelete {
		return next, response{}
	}
	body, err := field.DecodeObject(q.body)
	given, found := field.Lookup(body, field.Path{}.Name(properties).Name("tags"))
	sent, object := given.(map[string]any)
	if err != nil || !found || !object {
		return nil, fail(http.StatusBadRequest, "InvalidRequestContent", `expected {"properties":{"tags":{…}}}`)
	}
	operation, _ := field.Leaf(body, "operation")
	if q.method == http.MethodPut {
		operation = "Replace"
	}
	if !strings.EqualFold(operation, "Replace") {
		next = field.CloneObject(have)
		if next == nil {
			next = map[string]any{}
		}
	}
	switch strings.ToLower(operation) {
	case "replace", "merge":
		for k, v := range sent {
			if name, _ := field.FoldedKey(next, k); v != nil {
				next[name] = v
			}
		}
	case "delete":
		for k, v := range sent {
			if name, had := field.FoldedKey(next, k); had && field.Equal(nil, next[name], v) {
				delete(next, name)
			}
		}
	default:
		return nil, fail(http.StatusBadRequest, "InvalidRequestContent", "expected the operation Merge, Replace or Delete, found '%s'", operation)
	}
	if resp, refused := refusedTags(next); refused {
		return nil, resp
	}
	return next, response{}
}

package armsim

import (
	"net/http"
	"slices"
	"strings"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/resource"
)

// notFound is what a GET of an absent resource answers.
func notFound(id arm.ID, d *resource.Descriptor) response {
	if strings.EqualFold(d.Type, groupType) {
		return fail(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", id.ResourceGroup).gateway()
	}
	return fail(http.StatusNotFound, "ResourceNotFound",
		"The Resource '%s/%s' under resource group '%s' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix",
		d.Type, strings.Join(id.Names, "/"), id.ResourceGroup).gateway()
}

// hasETag reports whether the type shows etags or declares If-Match.
func hasETag(d *resource.Descriptor) bool {
	return d.Body.Fields["etag"] != nil || d.Verbs[http.MethodPut].IfMatch
}

// answerWith is a resource as an answer.
func (s *Server) answerWith(status int, r *record) response {
	resp := ok(status, s.store.view(r))
	if hasETag(r.desc) {
		resp = resp.with("ETag", r.etag)
	}
	return resp
}

func (s *Server) read(q *request, id arm.ID, d *resource.Descriptor) response {
	r := s.store.get(id)
	if r == nil {
		return notFound(id, d)
	}
	if r.op != nil {
		if s.store.poll(r.op, q.now); s.store.get(id) == nil {
			return notFound(id, d)
		}
	}
	if match := q.header.Get("If-None-Match"); match != "" && hasETag(d) && (match == "*" || sameTag(match, r.etag)) {
		return ok(http.StatusNotModified, nil).with("ETag", r.etag)
	}
	if q.method == http.MethodHead {
		if codes := d.Verbs[http.MethodHead].Codes; len(codes) > 0 && !slices.Contains(codes, http.StatusOK) {
			return ok(codes[0], nil)
		}
	}
	return s.answerWith(http.StatusOK, r)
}

// list answers the GET of a collection below a scope.
func (s *Server) list(q *request, d *resource.Descriptor, scope string) response {
	if q.method != http.MethodGet {
		return notAllowed(q.method, d)
	}
	if !d.Can("LIST") {
		return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "The type '%s' can't be listed.", d.Type)
	}
	key := ""
	if scope != "/" {
		id, err := arm.ParseID(scope)
		if err != nil {
			return fail(http.StatusBadRequest, "InvalidResourceId", "The scope '%s' can't be read.", scope)
		}
		key = id.Fold()
		if resp, missing := s.missingList(q, id, d); missing {
			return resp
		}
	}
	var found []*record
	for _, r := range s.store.below(key) {
		if r.desc == d {
			found = append(found, r)
		}
	}
	return s.page(q, found, func(r *record) any { return s.store.view(r) })
}

// missingList refuses a list in a group or parent that does not exist.
func (s *Server) missingList(q *request, scope arm.ID, d *resource.Descriptor) (response, bool) {
	if len(scope.Types) == 1 && strings.EqualFold(scope.Type(), "Microsoft.Resources/subscriptions") {
		return response{}, false
	}
	p := s.catalog.ByType(scope.Type())
	if p == nil || s.store.get(scope) != nil {
		return response{}, false
	}
	if resp, missing := s.missingScope(q, scope, p); missing {
		return resp, true
	}
	if strings.EqualFold(p.Type, groupType) {
		return notFound(scope, p), true
	}
	return fail(http.StatusNotFound, "ParentResourceNotFound",
		"Failed to perform 'read' on resource(s) of type '%s', because the parent resource '%s' could not be found.",
		d.Type[len(d.Namespace())+1:], scope.String()).gateway(), true
}

// listResources lists the tracked resources of a group or subscription.
func (s *Server) listResources(q *request) response {
	if q.method != http.MethodGet {
		return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET")
	}
	scope, err := arm.ParseID(q.path[:strings.LastIndexByte(strings.TrimRight(q.path, "/"), '/')])
	if err != nil {
		return fail(http.StatusBadRequest, "InvalidResourceId", "The scope can't be read.")
	}
	if scope.ResourceGroup != "" && s.store.get(scope) == nil {
		return fail(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", scope.ResourceGroup).gateway()
	}
	f, readable := parseFilter(parameter(q.query, "$filter"))
	if !readable {
		return fail(http.StatusBadRequest, "InvalidFilterInQueryString", "Invalid $filter '%s' specified in the query string.", parameter(q.query, "$filter"))
	}
	var found []*record
	for _, r := range s.store.below(scope.Fold()) {
		if strings.Count(r.desc.Type, "/") == 1 && !strings.EqualFold(r.desc.Type, groupType) && f.matches(r) {
			found = append(found, r)
		}
	}
	expand := strings.Split(parameter(q.query, "$expand"), ",")
	return s.page(q, found, func(r *record) any { return s.envelope(r, expand) })
}

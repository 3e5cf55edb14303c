package armsim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/resource"
)

const (
	groupType  = "Microsoft.Resources/resourceGroups"
	tagsSuffix = "/providers/microsoft.resources/tags/default"
)

// route finds what a path names and hands the request on.
func (s *Server) route(q *request) response {
	seg := split(q.path)
	switch {
	case is(seg, "subscriptions"):
		return s.subscriptions(q)
	case is(seg, "tenants"):
		return s.tenants(q)
	}
	if is(seg[:1], "subscriptions") && len(seg) > 1 && !s.hasSubscription(seg[1]) {
		return fail(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", seg[1]).gateway()
	}
	switch {
	case is(seg, "subscriptions", "*"):
		return s.subscription(q, seg[1])
	case is(seg, "subscriptions", "*", "resources"), is(seg, "subscriptions", "*", "resourceGroups", "*", "resources"):
		return s.listResources(q)
	case is(seg, "subscriptions", "*", "locations"):
		return s.locations(q, seg[1])
	case is(seg, "subscriptions", "*", "providers"):
		return s.providers(q, seg[1])
	case is(seg, "subscriptions", "*", "providers", "*"), is(seg, "subscriptions", "*", "providers", "*", "*") && q.method == http.MethodPost:
		return s.provider(q, seg)
	case len(seg) == 8 && is(seg, "subscriptions", "*", "providers", "*", "locations", "*", "operations", "*"):
		return s.asyncOperation(q, seg[7])
	case len(seg) == 8 && is(seg, "subscriptions", "*", "providers", "*", "locations", "*", "operationResults", "*"):
		return s.operationResult(q, seg[7])
	}
	if n := len(q.path) - len(tagsSuffix); n > 0 && strings.EqualFold(q.path[n:], tagsSuffix) {
		return s.tags(q, q.path[:n])
	}
	if id, err := arm.ParseID(q.path); err == nil {
		return s.resource(q, id)
	}
	return s.beside(q, seg)
}

// beside handles paths that end in a type, an action or a view.
func (s *Server) beside(q *request, seg []string) response {
	last := seg[len(seg)-1]
	if len(seg) >= 3 && strings.EqualFold(seg[len(seg)-3], "providers") {
		scope := "/" + strings.Join(seg[:len(seg)-3], "/")
		d, resp := s.describe(q, seg[len(seg)-2]+"/"+last)
		if d == nil {
			return resp
		}
		return s.list(q, d, scope)
	}
	id, err := arm.ParseID("/" + strings.Join(seg[:len(seg)-1], "/"))
	if err != nil {
		return fail(http.StatusNotFound, "InvalidResourceId", "The path '%s' names no resource, collection or action.", q.path).gateway()
	}
	child := id.Type() + "/" + last
	if strings.EqualFold(last, "resourceGroups") && len(seg) == 3 {
		child = groupType
	}
	if s.catalog.ByType(child) != nil {
		d, resp := s.describe(q, child)
		if d == nil {
			return resp
		}
		return s.list(q, d, id.String())
	}
	return s.member(q, id, last)
}

// describe finds a type's descriptor and checks the API version; nil and the
// refusal where either is unknown.
func (s *Server) describe(q *request, typ string) (*resource.Descriptor, response) {
	version := q.query.Get("api-version")
	d := s.catalog.ByType(typ)
	if d == nil {
		ns, rest, _ := strings.Cut(typ, "/")
		if !slices.ContainsFunc(s.catalog.All(), func(d *resource.Descriptor) bool { return strings.EqualFold(d.Namespace(), ns) }) {
			return nil, fail(http.StatusNotFound, "InvalidResourceNamespace", "The resource namespace '%s' is invalid.", ns).gateway()
		}
		return nil, fail(http.StatusNotFound, "InvalidResourceType",
			"The resource type '%s' could not be found in the namespace '%s' for api version '%s'.", rest, ns, version).gateway()
	}
	if !strings.EqualFold(version, d.APIVersion) {
		return nil, fail(http.StatusBadRequest, "NoRegisteredProviderFound",
			"No registered resource provider found for API version '%s' for type '%s'. The supported api-versions are '%s'.",
			version, d.Type, d.APIVersion).gateway()
	}
	return d, response{}
}

// resource handles a request for one resource.
func (s *Server) resource(q *request, id arm.ID) response {
	d, resp := s.describe(q, id.Type())
	if d == nil {
		return resp
	}
	id = canonical(id, d)
	if resp, missing := s.unregistered(q, id, d); missing {
		return resp
	}
	if resp, missing := s.missingScope(q, id, d); missing {
		return resp
	}
	head := q.method == http.MethodHead && d.Can(http.MethodGet)
	if !d.Can(q.method) && !head {
		return notAllowed(q.method, d)
	}
	switch q.method {
	case http.MethodGet, http.MethodHead:
		return s.read(q, id, d)
	case http.MethodPut, http.MethodPatch:
		return s.write(q, id, d)
	case http.MethodDelete:
		return s.delete(q, id, d)
	}
	return notAllowed(q.method, d)
}

func notAllowed(method string, d *resource.Descriptor) response {
	var allow []string
	for m := range d.Verbs {
		if m != "LIST" {
			allow = append(allow, m)
		}
	}
	slices.Sort(allow)
	return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "The type '%s' offers no %s.", d.Type, method).
		with("Allow", strings.Join(allow, ", "))
}

// canonical spells the types of an ID as the descriptor does.
func canonical(id arm.ID, d *resource.Descriptor) arm.ID {
	parts := strings.Split(d.Type, "/")
	id.Namespace, id.Types = parts[0], parts[1:]
	return id
}

// missingScope refuses a request for what lies in a group or resource that
// does not exist.
func (s *Server) missingScope(q *request, id arm.ID, d *resource.Descriptor) (response, bool) {
	if id.ResourceGroup != "" && !strings.EqualFold(d.Type, groupType) {
		group := s.groupOf(id)
		if group == nil && s.catalog.ByType(groupType) != nil {
			return fail(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", id.ResourceGroup).gateway(), true
		}
		if group != nil && group.op != nil && group.op.deletes && (q.method == http.MethodPut || q.method == http.MethodPatch) {
			return fail(http.StatusConflict, "ResourceGroupBeingDeleted",
				"The resource group '%s' is in deprovisioning state and cannot perform this operation.", id.ResourceGroup).gateway(), true
		}
	}
	parent := id.Parent()
	needed := len(id.Types) > 1 || id.Scope != nil
	if !needed || s.store.get(parent) != nil || s.catalog.ByType(parent.Type()) == nil {
		return response{}, false
	}
	verb := map[string]string{http.MethodPut: "write", http.MethodPatch: "write", http.MethodDelete: "delete"}[q.method]
	if verb == "" {
		verb = "read"
	}
	return fail(http.StatusNotFound, "ParentResourceNotFound",
		"Failed to perform '%s' on resource(s) of type '%s', because the parent resource '%s' could not be found.",
		verb, d.Type[len(d.Namespace())+1:], parent.String()).gateway(), true
}

func (s *Server) groupOf(id arm.ID) *record {
	g, err := arm.ParseID("/subscriptions/" + id.SubscriptionID + "/resourceGroups/" + id.ResourceGroup)
	if err != nil {
		return nil
	}
	return s.store.get(g)
}

func (s *Server) hasSubscription(id string) bool {
	if len(s.opts.Subscriptions) == 0 {
		return true
	}
	return slices.ContainsFunc(s.opts.Subscriptions, func(x string) bool { return strings.EqualFold(x, id) })
}

func (s *Server) retryAfter() string {
	return strconv.Itoa(int(s.opts.RetryAfter.Seconds()))
}

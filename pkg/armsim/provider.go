package armsim

import (
	"net/http"
	"slices"
	"strings"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/resource"
)

// registry knows the providers that are not registered in a subscription, as
// subscription/namespace in lower case.
type registry struct {
	// from are the namespaces that no subscription starts with.
	from []string
	// states are those that were registered or unregistered since.
	states map[string]bool
}

func (g *registry) key(subscription, namespace string) string {
	return strings.ToLower(subscription + "/" + namespace)
}

func (g *registry) registered(subscription, namespace string) bool {
	if state, set := g.states[g.key(subscription, namespace)]; set {
		return state
	}
	return !slices.ContainsFunc(g.from, func(n string) bool { return strings.EqualFold(n, namespace) })
}

// unregistered refuses what needs a provider that is not registered.
func (s *Server) unregistered(q *request, id arm.ID, d *resource.Descriptor) (response, bool) {
	ns := d.Namespace()
	if q.method == http.MethodGet || q.method == http.MethodHead || id.SubscriptionID == "" || s.registry.registered(id.SubscriptionID, ns) {
		return response{}, false
	}
	return failWith(&arm.Error{
		Status: http.StatusConflict, Code: "MissingSubscriptionRegistration",
		Message: "The subscription is not registered to use namespace '" + ns + "'.",
		Details: []arm.Error{{Code: "MissingSubscriptionRegistration", Target: ns, Message: "Register the namespace '" + ns + "' first."}},
	}).gateway(), true
}

// providerBody is a provider as its GET shows it; nil where the catalog has
// none of its types.
func (s *Server) providerBody(subscription, namespace string) map[string]any {
	types := []any{}
	for _, d := range s.catalog.All() {
		if strings.EqualFold(d.Namespace(), namespace) {
			namespace = d.Namespace()
			types = append(types, map[string]any{
				"resourceType": d.Type[len(namespace)+1:], "locations": locationNames(), "apiVersions": []any{d.APIVersion},
			})
		}
	}
	if len(types) == 0 {
		return nil
	}
	state := "Registered"
	if !s.registry.registered(subscription, namespace) {
		state = "NotRegistered"
	}
	return map[string]any{
		"id": "/subscriptions/" + subscription + "/providers/" + namespace, "namespace": namespace,
		"registrationState": state, "registrationPolicy": "RegistrationRequired", "resourceTypes": types,
	}
}

// provider answers GET of a provider, and POST of register and unregister.
func (s *Server) provider(q *request, seg []string) response {
	body := s.providerBody(seg[1], seg[3])
	if body == nil {
		return fail(http.StatusNotFound, "InvalidResourceNamespace", "The resource namespace '%s' is invalid.", seg[3]).gateway()
	}
	switch {
	case len(seg) == 4 && q.method == http.MethodGet:
		return ok(http.StatusOK, body)
	case len(seg) == 5 && (strings.EqualFold(seg[4], "register") || strings.EqualFold(seg[4], "unregister")):
		s.registry.states[s.registry.key(seg[1], seg[3])] = strings.EqualFold(seg[4], "register")
		return ok(http.StatusOK, s.providerBody(seg[1], seg[3]))
	}
	return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET, or POST of register or unregister")
}

// providers lists the providers of the catalog.
func (s *Server) providers(q *request, subscription string) response {
	if q.method != http.MethodGet {
		return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET")
	}
	items, last := []any{}, ""
	for _, d := range s.catalog.All() {
		if ns := d.Namespace(); !strings.EqualFold(ns, last) {
			last = ns
			items = append(items, s.providerBody(subscription, ns))
		}
	}
	return ok(http.StatusOK, map[string]any{"value": items})
}

// places are some of Azure's regions, name and display name in turn.
func places() []string {
	return []string{
		"eastus", "East US", "westus2", "West US 2", "westus3", "West US 3", "northeurope", "North Europe",
		"westeurope", "West Europe", "uksouth", "UK South", "germanywestcentral", "Germany West Central",
	}
}

func locationNames() []any {
	var names []any
	for pair := range slices.Chunk(places(), 2) {
		names = append(names, pair[1])
	}
	return names
}

// locations lists regions; resources may lie in any other as well.
func (s *Server) locations(q *request, subscription string) response {
	if q.method != http.MethodGet {
		return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET")
	}
	items := []any{}
	for pair := range slices.Chunk(places(), 2) {
		items = append(items, map[string]any{
			"id": "/subscriptions/" + subscription + "/locations/" + pair[0], "type": "Region",
			"name": pair[0], "displayName": pair[1], "regionalDisplayName": pair[1],
		})
	}
	return ok(http.StatusOK, map[string]any{"value": items})
}

// tenants lists the one tenant.
func (s *Server) tenants(q *request) response {
	if q.method != http.MethodGet {
		return fail(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "expected GET")
	}
	return ok(http.StatusOK, map[string]any{"value": []any{map[string]any{
		"id": "/tenants/" + s.tenant(), "tenantId": s.tenant(), "displayName": "Simulated", "tenantCategory": "Home",
	}}})
}

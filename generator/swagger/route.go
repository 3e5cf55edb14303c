package swagger

import (
	"slices"
	"strings"

	"github.com/armature-dev/armature/pkg/resource"
)

// Route is what a URL template says of a resource.
type Route struct {
	// Path is the template without a trailing slash.
	Path string
	// Type is the ARM type as this template spells it.
	Type  string
	Scope resource.ScopeKind
	// Name is the last segment: a parameter's name in braces, or a literal.
	Name string
}

// nameChars may stand in a type or namespace.
const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

const (
	groupType = "Microsoft.Resources/resourceGroups"
	mgNS      = "Microsoft.Management"
)

// ParseRoute reads a URL template that names one resource; false for
// collections, actions, and URLs without a resource type.
func ParseRoute(template string) (Route, bool) {
	p := "/" + strings.Trim(template, "/")
	seg := strings.Split(p[1:], "/")
	at := lastProviders(seg)
	if at < 0 {
		if len(seg) == 4 && fold(seg[0], "subscriptions") && fold(seg[2], "resourceGroups") && param(seg[3]) {
			return Route{Path: p, Type: groupType, Scope: resource.Subscription, Name: seg[3]}, true
		}
		return Route{}, false
	}
	rest := seg[at+1:]
	if len(rest) < 3 || len(rest)%2 == 0 || param(rest[0]) {
		return Route{}, false
	}
	types := []string{rest[0]}
	for i := 1; i < len(rest); i += 2 {
		types = append(types, rest[i])
	}
	for _, t := range types {
		if strings.Trim(t, nameChars) != "" && !param(t) || t == "" {
			return Route{}, false
		}
	}
	return Route{Path: p, Type: strings.Join(types, "/"), Scope: scopeOf(seg[:at]), Name: rest[len(rest)-1]}, true
}

func lastProviders(seg []string) int {
	for i, s := range slices.Backward(seg) {
		if fold(s, "providers") {
			return i
		}
	}
	return -1
}

func scopeOf(prefix []string) resource.ScopeKind {
	switch {
	case len(prefix) == 0:
		return resource.Tenant
	case len(prefix) == 2 && fold(prefix[0], "subscriptions"):
		return resource.Subscription
	case len(prefix) == 4 && fold(prefix[0], "subscriptions") && fold(prefix[2], "resourceGroups"):
		return resource.ResourceGroup
	case len(prefix) == 4 && fold(prefix[0], "providers") && fold(prefix[1], mgNS) && fold(prefix[2], "managementGroups"):
		return resource.ManagementGroup
	}
	return resource.Extension
}

func fold(a, b string) bool { return strings.EqualFold(a, b) }

// param reports whether a segment is a parameter.
func param(seg string) bool {
	name, open := strings.CutPrefix(seg, "{")
	name, closed := strings.CutSuffix(name, "}")
	return open && closed && strings.Trim(name, nameChars) == ""
}

// bare is a template with the names of its parameters left out, in lower
// case: what two spellings of one URL share.
func bare(template string) string {
	seg := strings.Split(strings.Trim(template, "/"), "/")
	for i, s := range seg {
		if param(s) {
			s = "{}"
		}
		seg[i] = strings.ToLower(s)
	}
	return strings.Join(seg, "/")
}

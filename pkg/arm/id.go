// Package arm holds Azure Resource Manager's wire forms: resource IDs, error
// shapes, headers and states. It knows no Kubernetes and no HTTP client.
package arm

import (
	"errors"
	"fmt"
	"strings"
)

// ID is a parsed resource ID. Segments keep their spelling; comparing IDs
// ignores case.
type ID struct {
	// SubscriptionID, ResourceGroup and ManagementGroup are "" where the
	// scope has none.
	SubscriptionID  string
	ResourceGroup   string
	ManagementGroup string
	// Scope is the resource that an extension resource belongs to; nil else.
	Scope *ID
	// Namespace is the provider's, "Microsoft.Resources" for subscriptions
	// and groups themselves.
	Namespace string
	// Types and Names pair up: virtualNetworks/subnets and net/front.
	Types []string
	Names []string
}

const (
	resources         = "Microsoft.Resources"
	management        = "Microsoft.Management"
	groupsSegment     = "resourceGroups"
	subsSegment       = "subscriptions"
	providersSegment  = "providers"
	mgmtGroupsSegment = "managementGroups"
)

var errID = errors.New("expected /subscriptions/{id}[/resourceGroups/{name}][/providers/{namespace}/{type}/{name}…]")

// ParseID reads a resource ID of any scope: tenant, management group,
// subscription, group, resource, and extension resources of these.
func ParseID(s string) (ID, error) {
	if !strings.HasPrefix(s, "/") || strings.ContainsAny(s, "?#") {
		return ID{}, fmt.Errorf("reading resource ID %q: %w", s, errID)
	}
	segments := strings.Split(strings.TrimSuffix(s[1:], "/"), "/")
	for _, seg := range segments {
		if err := checkSegment(seg); err != nil {
			return ID{}, fmt.Errorf("reading resource ID %q: %w", s, err)
		}
	}
	id, err := parse(segments)
	if err != nil {
		return ID{}, fmt.Errorf("reading resource ID %q: %w", s, err)
	}
	return id, nil
}

// checkSegment refuses what a server or proxy on the way may read as another
// path: what lies within an allowed scope must stay there.
func checkSegment(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("empty segment: %w", errID)
	case s == "." || s == "..":
		return fmt.Errorf("segment %q: %w", s, errID)
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }):
		return fmt.Errorf("segment %q holds a backslash or a control character: %w", s, errID)
	}
	return nil
}

func parse(seg []string) (ID, error) {
	var id ID
	if len(seg) >= 2 && strings.EqualFold(seg[0], subsSegment) {
		id = ID{SubscriptionID: seg[1], Namespace: resources, Types: []string{subsSegment}, Names: []string{seg[1]}}
		seg = seg[2:]
		if len(seg) >= 2 && strings.EqualFold(seg[0], groupsSegment) {
			id.ResourceGroup, id.Types, id.Names = seg[1], []string{groupsSegment}, []string{seg[1]}
			seg = seg[2:]
		}
	}
	for len(seg) > 0 {
		n := 1
		for n < len(seg) && !(n%2 == 0 && strings.EqualFold(seg[n], providersSegment)) {
			n++
		}
		next, err := id.provider(seg[:n])
		if err != nil {
			return ID{}, err
		}
		id, seg = next, seg[n:]
	}
	if len(id.Types) == 0 {
		return ID{}, errID
	}
	return id, nil
}

// provider reads providers/{namespace}/{type}/{name}… below the scope id.
func (id ID) provider(seg []string) (ID, error) {
	if len(seg) < 4 || len(seg)%2 != 0 || !strings.EqualFold(seg[0], providersSegment) {
		return ID{}, errID
	}
	if strings.EqualFold(seg[1], resources) && (strings.EqualFold(seg[2], subsSegment) || strings.EqualFold(seg[2], groupsSegment)) {
		return ID{}, fmt.Errorf("%s/%s has a path of its own: %w", seg[1], seg[2], errID)
	}
	next := ID{
		SubscriptionID: id.SubscriptionID, ResourceGroup: id.ResourceGroup, ManagementGroup: id.ManagementGroup,
		Namespace: seg[1],
	}
	for i := 2; i < len(seg); i += 2 {
		next.Types = append(next.Types, seg[i])
		next.Names = append(next.Names, seg[i+1])
	}
	if strings.EqualFold(next.Namespace, management) && strings.EqualFold(next.Types[0], mgmtGroupsSegment) && len(id.Types) == 0 {
		next.ManagementGroup = next.Names[0]
	} else if len(id.Types) > 0 && !id.isSubscription() && !id.isGroup() {
		scope := id
		next.Scope = &scope
	}
	return next, nil
}

func (id ID) isSubscription() bool {
	return len(id.Types) == 1 && strings.EqualFold(id.Types[0], subsSegment) && strings.EqualFold(id.Namespace, resources)
}

func (id ID) isGroup() bool {
	return len(id.Types) == 1 && strings.EqualFold(id.Types[0], groupsSegment) && strings.EqualFold(id.Namespace, resources)
}

// IsZero reports whether id is empty.
func (id ID) IsZero() bool { return len(id.Types) == 0 }

// Type is the resource type: "Microsoft.Network/virtualNetworks/subnets".
func (id ID) Type() string {
	if id.IsZero() {
		return ""
	}
	return id.Namespace + "/" + strings.Join(id.Types, "/")
}

// Name is the last name.
func (id ID) Name() string {
	if id.IsZero() {
		return ""
	}
	return id.Names[len(id.Names)-1]
}

// String writes the ID as ParseID reads it, with "resourceGroups" and
// "providers" in their usual spelling.
func (id ID) String() string {
	if id.IsZero() {
		return ""
	}
	base := id.ScopeID()
	if id.isSubscription() {
		return "/" + subsSegment + "/" + id.SubscriptionID
	}
	if id.isGroup() {
		return base + "/" + id.Types[0] + "/" + id.ResourceGroup
	}
	var b strings.Builder
	b.WriteString(base + "/" + providersSegment + "/" + id.Namespace)
	for i := range id.Types {
		b.WriteString("/" + id.Types[i] + "/" + id.Names[i])
	}
	return b.String()
}

// ScopeID is what the ID's provider part hangs from: the scope resource, the
// group, the subscription (also for a group itself), or "" for the tenant.
func (id ID) ScopeID() string {
	switch {
	case id.Scope != nil:
		return id.Scope.String()
	case id.SubscriptionID == "":
		return ""
	case id.ResourceGroup == "" || id.isGroup():
		return "/" + subsSegment + "/" + id.SubscriptionID
	}
	return "/" + subsSegment + "/" + id.SubscriptionID + "/" + groupsSegment + "/" + id.ResourceGroup
}

// Parent is the resource, group or subscription that id lies in; zero for a
// subscription and for what lies directly below the tenant.
func (id ID) Parent() ID {
	if len(id.Types) > 1 {
		p := id
		p.Types, p.Names = id.Types[:len(id.Types)-1], id.Names[:len(id.Names)-1]
		return p
	}
	if id.isSubscription() {
		return ID{}
	}
	p, err := ParseID(id.ScopeID())
	if err != nil {
		return ID{}
	}
	return p
}

// Child is the resource of one more type and name below id. Below a
// subscription or group the type starts with its namespace:
// "Microsoft.Network/virtualNetworks"; so it does for extension resources. A
// name with a slash is an error: it would be another resource.
func (id ID) Child(typ, name string) (ID, error) {
	if strings.Contains(name, "/") {
		return ID{}, fmt.Errorf("reading the name %q: expected no slash", name)
	}
	if !strings.Contains(typ, "/") && !strings.EqualFold(typ, groupsSegment) {
		return ParseID(id.String() + "/" + typ + "/" + name)
	}
	if _, last, ok := strings.Cut(typ, resources+"/"); ok && strings.EqualFold(last, groupsSegment) {
		return ParseID(id.String() + "/" + groupsSegment + "/" + name)
	}
	if strings.EqualFold(typ, groupsSegment) {
		return ParseID(id.String() + "/" + groupsSegment + "/" + name)
	}
	return ParseID(id.String() + "/" + providersSegment + "/" + typ + "/" + name)
}

// Equal compares without case.
func (id ID) Equal(other ID) bool { return id.Fold() == other.Fold() }

// Fold is the ID in lower case: a key for maps.
func (id ID) Fold() string { return strings.ToLower(id.String()) }

// Within reports whether id is scope or lies below it. The scope "/" holds
// everything, an empty one nothing.
func (id ID) Within(scope string) bool {
	if scope == "" || id.IsZero() {
		return false
	}
	s := strings.ToLower(strings.TrimRight(scope, "/"))
	f := id.Fold()
	return f == s || strings.HasPrefix(f, s+"/")
}

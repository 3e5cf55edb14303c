// Package classify turns a resource type as swagger tells of it into a
// descriptor: one tree of the PUT and GET models with each field's behaviours,
// and the evidence for each.
package classify

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-dev/armature/generator/swagger"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

// Result is a classified type.
type Result struct {
	*resource.Descriptor

	// File is where the type's PUT is described.
	File, Pointer string
}

// Classify makes a descriptor of r, without its Kubernetes names. What can't
// be told is reported and left open; it never fails.
func Classify(r *swagger.Resource, overlays []Overlay, ds *swagger.Diagnostics) *Result {
	put, get := r.Verbs[swagger.Put], r.Verbs[swagger.Get]
	d := &resource.Descriptor{Type: r.Type, APIVersion: r.Version, Verbs: map[string]resource.Verb{}, Name: nameRule(r)}
	res := &Result{Descriptor: d}
	for _, route := range r.Routes {
		if !d.HasScope(route.Scope) || route.Scope == resource.Extension {
			d.Scopes = append(d.Scopes, resource.Scope{Kind: route.Scope, Path: route.Path})
		}
	}
	slices.SortStableFunc(d.Scopes, func(a, b resource.Scope) int { return rank(a.Kind) - rank(b.Kind) })
	d.Owners = owners(d)
	for name, op := range r.Verbs {
		d.Verbs[name] = verb(op)
	}
	if put == nil {
		ds.Add(swagger.Diagnostic{
			Severity: swagger.Error, Type: r.Type, File: r.Files[0], Pointer: "/paths",
			Message: "expected a PUT that can be read", Hint: "compare the file with the pinned commit's",
		})
		return res
	}
	b := newBuilder(r, ds)
	res.File, res.Pointer = put.File, put.Pointer
	d.Body = b.body(put, get, r.Verbs[swagger.Patch])
	v := d.Verbs[swagger.Put]
	v.NoBody = put.Body == nil
	d.Verbs[swagger.Put] = v
	if patch := r.Verbs[swagger.Patch]; patch != nil && patch.Body != nil {
		d.Patch = b.single(patch.Body)
		rootRules(d.Patch)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Actions)) {
		d.Actions = append(d.Actions, b.action(name, r.Actions[name]))
	}
	apply(res, overlays, ds)
	return res
}

// rank orders scopes, the usual one first.
func rank(k resource.ScopeKind) int {
	order := []resource.ScopeKind{resource.ResourceGroup, resource.Subscription, resource.ManagementGroup, resource.Tenant, resource.Extension}
	return slices.Index(order, k)
}

const (
	groupType           = "Microsoft.Resources/resourceGroups"
	managementGroupType = "Microsoft.Management/managementGroups"
)

func owners(d *resource.Descriptor) []string {
	if p := d.ParentType(); p != "" {
		return []string{p}
	}
	var list []string
	for _, s := range d.Scopes {
		switch s.Kind {
		case resource.ResourceGroup:
			list = append(list, groupType)
		case resource.ManagementGroup:
			list = append(list, managementGroupType)
		case resource.Tenant, resource.Subscription, resource.Extension:
		}
	}
	return list
}

func verb(op *swagger.Operation) resource.Verb {
	v := resource.Verb{LRO: op.LRO, FinalState: op.FinalState, IfMatch: op.IfMatch}
	for code := range op.Responses {
		v.Codes = append(v.Codes, code)
	}
	slices.Sort(v.Codes)
	return v
}

func nameRule(r *swagger.Resource) resource.NameRule {
	n := resource.NameRule{Pattern: r.Name.Pattern}
	if r.Name.MinLength != nil {
		n.MinLength = int(*r.Name.MinLength)
	}
	if r.Name.MaxLength != nil {
		n.MaxLength = int(*r.Name.MaxLength)
	}
	for _, e := range r.Name.Enum {
		if s, ok := e.(string); ok {
			n.Enum = append(n.Enum, s)
		}
	}
	if len(n.Enum) == 0 && len(r.Names) == len(r.Routes) {
		for _, name := range r.Names {
			if !slices.ContainsFunc(n.Enum, func(s string) bool { return strings.EqualFold(s, name) }) {
				n.Enum = append(n.Enum, name)
			}
		}
		slices.Sort(n.Enum)
	}
	if len(n.Enum) == 1 {
		n.Fixed, n.Enum = n.Enum[0], nil
	}
	return n
}

// action describes a POST. Its answer is taken for credentials by its name or
// by a secret in it.
func (b *builder) action(name string, op *swagger.Operation) resource.Action {
	a := resource.Action{Name: name, Verb: verb(op)}
	if op.Body != nil {
		a.Request = b.single(op.Body)
	}
	if p := op.Answer(200, 201, 202); p != nil {
		a.Response = b.single(p)
	}
	a.Secret = secretAction(name) || holdsSecret(a.Response, map[*field.Type]bool{})
	return a
}

func holdsSecret(f *field.Field, seen map[*field.Type]bool) bool {
	if f == nil || f.Type == nil {
		return false
	}
	if f.Behaviours.Has(field.Secret) {
		return true
	}
	if seen[f.Type] {
		return false
	}
	seen[f.Type] = true
	if holdsSecret(f.Elem, seen) {
		return true
	}
	for _, c := range f.Fields {
		if holdsSecret(c, seen) {
			return true
		}
	}
	return false
}

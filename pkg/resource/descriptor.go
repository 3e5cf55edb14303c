// Package resource describes ARM resource types to everything that handles
// them: a Descriptor a type, a Catalog of these, and the Object that carries a
// resource in Kubernetes.
package resource

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/pkg/field"
)

// Descriptor is all that the operator knows of one resource type. It is data:
// the generator writes it, and it must not be changed once loaded.
type Descriptor struct {
	// Group, Kind, Plural and ShortNames are the Kubernetes names.
	Group      string   `json:"group"`
	Kind       string   `json:"kind"`
	Plural     string   `json:"plural"`
	ShortNames []string `json:"shortNames,omitempty"`

	// Type is the ARM type: "Microsoft.Network/virtualNetworks/subnets".
	Type string `json:"type"`
	// APIVersion is the ARM API version that requests use.
	APIVersion string `json:"apiVersion"`
	// Scopes are where resources of the type can lie, the usual one first.
	Scopes []Scope `json:"scopes"`
	// Owners are the ARM types that can be the owner; empty where the owner is
	// a subscription or the tenant, or (extension) anything.
	Owners []string `json:"owners,omitempty"`
	// Children are the ARM types that lie directly in this one.
	Children []string `json:"children,omitempty"`
	Name     NameRule `json:"name"`

	// Verbs maps an HTTP method to what the type says of it; a missing method
	// is not offered. "LIST" is the GET of the collection.
	Verbs   map[string]Verb `json:"verbs"`
	Actions []Action        `json:"actions,omitempty"`

	// Replicas is the path of the count that `kubectl scale` sets; "" for
	// most.
	Replicas string `json:"replicas,omitempty"`

	// Body is what a resource's body can hold: the PUT model and the GET
	// model in one tree. A PUT sends what is not read-only in it.
	Body *field.Field `json:"-"`
	// Patch is the PATCH model; nil where there is no PATCH.
	Patch *field.Field `json:"-"`
}

// ScopeKind says what a resource lies in.
type ScopeKind string

// The scopes.
const (
	Tenant          ScopeKind = "tenant"
	Subscription    ScopeKind = "subscription"
	ResourceGroup   ScopeKind = "resourceGroup"
	ManagementGroup ScopeKind = "managementGroup"
	// Extension resources hang from any other resource.
	Extension ScopeKind = "extension"
)

// Scope is one place for resources of a type.
type Scope struct {
	Kind ScopeKind `json:"kind"`
	// Path is the URL as the specification spells it, with its parameters.
	Path string `json:"path"`
}

// NameRule bounds the last name in the ID.
type NameRule struct {
	// Fixed is the only name of a singleton ("default"); "" else.
	Fixed     string   `json:"fixed,omitempty"`
	Enum      []string `json:"enum,omitempty"`
	Pattern   string   `json:"pattern,omitempty"`
	MinLength int      `json:"minLength,omitempty"`
	MaxLength int      `json:"maxLength,omitempty"`
}

// Verb is what a type says of one HTTP method.
type Verb struct {
	// LRO is true where x-ms-long-running-operation says so.
	LRO bool `json:"lro,omitempty"`
	// FinalState is final-state-via: "azure-async-operation", "location",
	// "original-uri"; "" where unsaid.
	FinalState string `json:"finalState,omitempty"`
	// Codes are the declared success codes, ascending.
	Codes []int `json:"codes,omitempty"`
	// IfMatch is true where the header is a declared parameter.
	IfMatch bool `json:"ifMatch,omitempty"`
	// NoBody is true for a PUT that takes none.
	NoBody bool `json:"noBody,omitempty"`
}

// Action is a POST below a resource.
type Action struct {
	// Name is the last segment: "listKeys".
	Name string `json:"name"`
	// Secret is true where the answer holds credentials.
	Secret bool `json:"secret,omitempty"`
	Verb
	Request  *field.Field `json:"-"`
	Response *field.Field `json:"-"`
}

// Version is the one Kubernetes version of every kind.
const Version = "v1alpha1"

// GroupSuffix ends every API group.
const GroupSuffix = ".armature.dev"

// GVK is the kind's Kubernetes identity.
func (d *Descriptor) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: d.Group, Version: Version, Kind: d.Kind}
}

// CRDName is the name of the kind's CustomResourceDefinition.
func (d *Descriptor) CRDName() string { return d.Plural + "." + d.Group }

// Can reports whether the type offers an HTTP method.
func (d *Descriptor) Can(method string) bool {
	_, ok := d.Verbs[method]
	return ok
}

// Namespace is the ARM provider's: "Microsoft.Network".
func (d *Descriptor) Namespace() string {
	ns, _, _ := strings.Cut(d.Type, "/")
	return ns
}

// LastType is the last part of the ARM type: "subnets".
func (d *Descriptor) LastType() string {
	return d.Type[strings.LastIndexByte(d.Type, '/')+1:]
}

// ParentType is the ARM type that resources lie in, "" where they lie in a
// scope alone (or, for extensions, in anything).
func (d *Descriptor) ParentType() string {
	i := strings.LastIndexByte(d.Type, '/')
	if strings.Count(d.Type, "/") < 2 {
		return ""
	}
	return d.Type[:i]
}

// HasScope reports whether resources of the type can lie in a scope.
func (d *Descriptor) HasScope(k ScopeKind) bool {
	return slices.ContainsFunc(d.Scopes, func(s Scope) bool { return s.Kind == k })
}

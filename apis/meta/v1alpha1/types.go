// Package v1alpha1 holds what all kinds share: the keys of a spec that are
// Armature's own, and the status beside the observed resource.
package v1alpha1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels, annotations and the finalizer that Armature uses on objects.
const (
	// Finalizer keeps an object until its resource is deleted or orphaned.
	Finalizer = "armature.dev/finalizer"
	// ClaimAnnotation holds the ARM ID that the object owns.
	ClaimAnnotation = "armature.dev/claim"
	// LastAppliedAnnotation holds the journal of what was last sent.
	LastAppliedAnnotation = "armature.dev/last-applied"
	// ReconcileAnnotation forces a reconcile when its value changes.
	ReconcileAnnotation = "armature.dev/reconcile-requested-at"
	// PauseAnnotation stops reconciling while it is "true".
	PauseAnnotation = "armature.dev/paused"
	// AllowedScopesAnnotation on a namespace lists, separated by commas, the
	// ARM ID prefixes that its objects may write to.
	AllowedScopesAnnotation = "armature.dev/allowed-scopes"
	// SubscriptionAnnotation on a namespace names the subscription of objects
	// that lie directly in one.
	SubscriptionAnnotation = "armature.dev/subscription"
)

// Owner is what a resource lies in: an object of the same namespace, or an ARM
// ID.
type Owner struct {
	// Kind is needed where several kinds can be the parent.
	Kind string `json:"kind,omitempty"`
	// Name of an object in the same namespace.
	Name string `json:"name,omitempty"`
	// ResourceID of a parent that no object manages.
	ResourceID string `json:"resourceID,omitempty"`
}

// SecretKeyRef names one value in a Secret of the same namespace.
type SecretKeyRef struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// SecretValue stands for a secret string in a spec.
type SecretValue struct {
	SecretKeyRef SecretKeyRef `json:"secretKeyRef"`
}

// CredentialRef names a Secret of the same namespace that holds a credential.
type CredentialRef struct {
	SecretName string `json:"secretName"`
}

// UpdatePolicy says whether changes are sent.
type UpdatePolicy string

// The update policies; Apply is the default.
const (
	UpdateApply   UpdatePolicy = "Apply"
	UpdateObserve UpdatePolicy = "Observe"
)

// DriftPolicy says what happens to our fields that others changed.
type DriftPolicy string

// The drift policies; Correct is the default.
const (
	DriftCorrect DriftPolicy = "Correct"
	DriftReport  DriftPolicy = "Report"
)

// DeletionPolicy says what deleting the object does to the resource.
type DeletionPolicy string

// The deletion policies. Without one, what was created is deleted and what was
// adopted is orphaned.
const (
	DeletionDelete         DeletionPolicy = "Delete"
	DeletionOrphan         DeletionPolicy = "Orphan"
	DeletionDeleteContents DeletionPolicy = "DeleteContents"
)

// Policy bends how one object is reconciled.
type Policy struct {
	Update   UpdatePolicy   `json:"update,omitempty"`
	Drift    DriftPolicy    `json:"drift,omitempty"`
	Deletion DeletionPolicy `json:"deletion,omitempty"`
	// Ignore lists paths that are never sent or compared.
	Ignore []string `json:"ignore,omitempty"`
}

// Common are the keys of every spec that are not ARM's.
type Common struct {
	Owner      *Owner         `json:"owner,omitempty"`
	AzureName  string         `json:"azureName,omitempty"`
	ResourceID string         `json:"resourceID,omitempty"`
	Credential *CredentialRef `json:"credential,omitempty"`
	Policy     *Policy        `json:"policy,omitempty"`
}

// OperationStatus is a long-running operation that has not ended.
type OperationStatus struct {
	// Method that started it: PUT, PATCH or DELETE.
	Method string `json:"method"`
	// Token resumes polling; empty where the resource itself is polled.
	Token     string      `json:"token,omitempty"`
	StartedAt metav1.Time `json:"startedAt"`
	// Percent is what ARM last reported, 0 to 100.
	Percent int `json:"percent,omitempty"`
	// Attempts counts polls.
	Attempts int `json:"attempts,omitempty"`
	// Generation of the spec that it carries.
	Generation int64 `json:"generation,omitempty"`
}

// Drift is a field of ours that somebody else changed.
type Drift struct {
	Path   string          `json:"path"`
	Wanted json.RawMessage `json:"wanted,omitempty"`
	Found  json.RawMessage `json:"found,omitempty"`
	Since  metav1.Time     `json:"since"`
	// Corrected is true once it was put back.
	Corrected bool `json:"corrected,omitempty"`
}

// Overridden is a value of ours that the service turned into another.
type Overridden struct {
	Path    string          `json:"path"`
	Sent    json.RawMessage `json:"sent,omitempty"`
	Settled json.RawMessage `json:"settled,omitempty"`
}

// Status is what every kind reports. Observed is the last GET's body.
type Status struct {
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	// ResourceID is the ARM ID.
	ResourceID string `json:"resourceID,omitempty"`
	// APIVersion is the ARM API version in use.
	APIVersion string `json:"apiVersion,omitempty"`
	// Origin is Created or Adopted.
	Origin Origin `json:"origin,omitempty"`
	// AppliedHash confirms the journal's pending part at terminal success.
	AppliedHash string           `json:"appliedHash,omitempty"`
	Operation   *OperationStatus `json:"operation,omitempty"`
	Drift       []Drift          `json:"drift,omitempty"`
	Released    []string         `json:"released,omitempty"`
	Overridden  []Overridden     `json:"overridden,omitempty"`
	// Clobbered lists paths of others that a PUT of ours was seen to lose.
	Clobbered []string        `json:"clobbered,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Observed  json.RawMessage `json:"observed,omitempty"`
}

// Origin tells how an object came to its resource.
type Origin string

// The origins.
const (
	Created Origin = "Created"
	Adopted Origin = "Adopted"
)

// Condition types (kstatus).
const (
	Ready       = "Ready"
	Reconciling = "Reconciling"
	Stalled     = "Stalled"
)

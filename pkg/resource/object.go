package resource

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/pkg/field"
)

// JSON is immutable text: copies share it, decoding always allocates.
type JSON []byte

// MarshalJSON returns the text itself.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == nil {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps a copy of b.
func (j *JSON) UnmarshalJSON(b []byte) error {
	*j = append(JSON(nil), b...)
	return nil
}

// Object is every kind at run time. Spec and Status stay JSON, so that its
// size does not grow with the kinds it stands for.
type Object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   JSON `json:"spec,omitempty"`
	Status JSON `json:"status,omitempty"`
}

// DeepCopy copies the metadata and shares the immutable rest.
func (o *Object) DeepCopy() *Object {
	c := *o
	o.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// DeepCopyObject makes Object a runtime.Object.
func (o *Object) DeepCopyObject() runtime.Object { return o.DeepCopy() }

// ObjectList is a list of objects of one kind.
type ObjectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []Object `json:"items"`
}

// DeepCopyObject makes ObjectList a runtime.Object.
func (l *ObjectList) DeepCopyObject() runtime.Object {
	c := *l
	l.DeepCopyInto(&c.ListMeta)
	c.Items = make([]Object, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopy()
	}
	return &c
}

// NewScheme knows one kind alone: a scheme with several kinds of one Go type
// would encode the first of them.
func NewScheme(gvk schema.GroupVersionKind) *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypeWithName(gvk, &Object{})
	s.AddKnownTypeWithName(gvk.GroupVersion().WithKind(gvk.Kind+"List"), &ObjectList{})
	metav1.AddToGroupVersion(s, gvk.GroupVersion())
	return s
}

// Spec is an object's spec taken apart.
type Spec struct {
	metav1alpha1.Common

	// Body is the ARM body as the user wrote it: secrets and references in
	// their Kubernetes form.
	Body map[string]any
}

// OwnKeys are the keys of a spec that are not ARM's.
func OwnKeys() []string { return []string{"owner", "azureName", "resourceID", "credential", "policy"} }

// ParseSpec takes the object's spec apart. An empty spec is valid.
func (o *Object) ParseSpec() (*Spec, error) {
	body, err := field.DecodeObject(o.Spec)
	if err != nil {
		return nil, fmt.Errorf("reading spec: %w", err)
	}
	s := &Spec{Body: body}
	if s.Body == nil {
		s.Body = map[string]any{}
	}
	if len(o.Spec) > 0 {
		if err := json.Unmarshal(o.Spec, &s.Common); err != nil {
			return nil, fmt.Errorf("reading spec: %w", err)
		}
	}
	for _, k := range OwnKeys() {
		delete(s.Body, k)
	}
	return s, nil
}

// ParseStatus reads the object's status; an empty one is valid.
func (o *Object) ParseStatus() (*metav1alpha1.Status, error) {
	s := &metav1alpha1.Status{}
	if len(o.Status) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(o.Status, s); err != nil {
		return nil, fmt.Errorf("reading status: %w", err)
	}
	return s, nil
}

package controllers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// crdGVK is the kind of CRDs.
var crdGVK = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"} //nolint:gochecknoglobals // a constant

// CRD is the sliver of a CustomResourceDefinition that tells whether its kind
// is served.
type CRD struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   CRDSpec   `json:"spec"`
	Status CRDStatus `json:"status"`
}

// CRDSpec names the kind.
type CRDSpec struct {
	Group string `json:"group"`
	Names struct {
		Kind string `json:"kind"`
	} `json:"names"`
}

// CRDStatus holds the conditions.
type CRDStatus struct {
	Conditions []struct {
		Type   string `json:"type"`
		Status string `json:"status"`
	} `json:"conditions"`
}

// served reports whether objects of the kind can be watched.
func (c *CRD) served() bool {
	if !c.DeletionTimestamp.IsZero() {
		return false
	}
	for _, x := range c.Status.Conditions {
		if x.Type == "Established" && x.Status == "True" {
			return true
		}
	}
	return false
}

// DeepCopyObject makes CRD a runtime.Object.
func (c *CRD) DeepCopyObject() runtime.Object {
	d := *c
	c.DeepCopyInto(&d.ObjectMeta)
	d.Status.Conditions = append(d.Status.Conditions[:0:0], c.Status.Conditions...)
	return &d
}

// CRDList is a list of these.
type CRDList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []CRD `json:"items"`
}

// DeepCopyObject makes CRDList a runtime.Object.
func (l *CRDList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = make([]CRD, 0, len(l.Items))
	for i := range l.Items {
		if d, ok := l.Items[i].DeepCopyObject().(*CRD); ok {
			c.Items = append(c.Items, *d)
		}
	}
	return &c
}

// AddCRDs lets a scheme know the sliver.
func AddCRDs(s *runtime.Scheme) {
	s.AddKnownTypeWithName(crdGVK, &CRD{})
	s.AddKnownTypeWithName(crdGVK.GroupVersion().WithKind("CustomResourceDefinitionList"), &CRDList{})
	metav1.AddToGroupVersion(s, crdGVK.GroupVersion())
}

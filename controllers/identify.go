package controllers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/resource"
)

// identify finds the object's ARM ID: the one that spec.resourceID names, else
// that of its name in its owner. A claim of the same ID, or one that the
// status confirms, pins it.
func (x *run) identify(ctx context.Context) *halt {
	claim := x.obj.Annotations[metav1alpha1.ClaimAnnotation]
	pinned := claim != "" && strings.EqualFold(claim, x.status.ResourceID)
	id, h := x.wantedID(ctx)
	switch {
	case h != nil && !pinned:
		return h
	case h != nil || pinned && !strings.EqualFold(id.String(), claim):
		parsed, err := arm.ParseID(claim)
		if err != nil {
			return stall(reasonInvalid, fmt.Sprintf("annotation %s: %v", metav1alpha1.ClaimAnnotation, err))
		}
		id = parsed
	}
	x.id = id
	x.claimed = strings.EqualFold(claim, id.String())
	if planted(faultNoClaim) {
		x.claimed = true
	}
	x.journal = decodeJournal(x.obj.Annotations[metav1alpha1.LastAppliedAnnotation], id.String()).settleBy(x.status.AppliedHash)
	x.status.ResourceID = id.String()
	return nil
}

func (x *run) wantedID(ctx context.Context) (arm.ID, *halt) {
	if x.spec.ResourceID != "" {
		id, err := arm.ParseID(x.spec.ResourceID)
		if err != nil {
			return arm.ID{}, stall(reasonInvalid, fmt.Sprintf("spec.resourceID: %v", err))
		}
		if !strings.EqualFold(id.Type(), x.kind.d.Type) {
			return arm.ID{}, stall(reasonInvalid, fmt.Sprintf("spec.resourceID: expected an ID of type %s, found one of %s", x.kind.d.Type, id.Type()))
		}
		return id, nil
	}
	parent, h := x.parent(ctx)
	if h != nil {
		return arm.ID{}, h
	}
	id, err := childID(parent, x.kind.d, x.name())
	if err != nil {
		return arm.ID{}, stall(reasonInvalid, err.Error())
	}
	return id, nil
}

func (x *run) name() string {
	switch {
	case x.kind.d.Name.Fixed != "":
		return x.kind.d.Name.Fixed
	case x.spec.AzureName != "":
		return x.spec.AzureName
	}
	return x.obj.Name
}

func childID(parent arm.ID, d *resource.Descriptor, name string) (arm.ID, error) {
	if p := d.ParentType(); p != "" && strings.EqualFold(parent.Type(), p) {
		return parent.Child(d.LastType(), name)
	}
	return parent.Child(d.Type, name)
}

// parent resolves spec.owner: an ID, an object of the namespace, or, for what
// lies in a subscription, the namespace's or the manager's subscription.
func (x *run) parent(ctx context.Context) (arm.ID, *halt) {
	o := x.spec.Owner
	switch {
	case o != nil && o.ResourceID != "":
		id, err := arm.ParseID(o.ResourceID)
		if err != nil {
			return arm.ID{}, stall(reasonInvalid, fmt.Sprintf("spec.owner.resourceID: %v", err))
		}
		return id, nil
	case o != nil && o.Name != "":
		return x.ownerObject(ctx, *o)
	case x.kind.d.HasScope(resource.Subscription):
		return x.subscription(ctx)
	}
	return arm.ID{}, stall(reasonInvalid, fmt.Sprintf("spec.owner: required; name the object that the resource lies in (%s), or its resourceID", strings.Join(x.kind.d.Owners, " or ")))
}

func (x *run) ownerObject(ctx context.Context, o metav1alpha1.Owner) (arm.ID, *halt) {
	owner := x.r.ownerKind(x.kind.d, o.Kind)
	if owner == nil {
		return arm.ID{}, wait(reasonOwner, fmt.Sprintf("spec.owner: no kind %q that is installed can own a %s; expected %s", o.Kind, x.kind.d.Kind, strings.Join(x.kind.d.Owners, " or ")))
	}
	x.dependsOn(owner.d, o.Name)
	var obj resource.Object
	key := types.NamespacedName{Namespace: x.obj.Namespace, Name: o.Name}
	if err := owner.client.Get(ctx, key, &obj); err != nil {
		if apierrors.IsNotFound(err) {
			return arm.ID{}, wait(reasonOwner, fmt.Sprintf("spec.owner: there is no %s %q in namespace %s; create it, or name the parent by owner.resourceID", owner.d.Kind, o.Name, x.obj.Namespace))
		}
		return arm.ID{}, kubernetes(fmt.Errorf("getting owner %s: %w", o.Name, err))
	}
	id, h := readyID(&obj, owner.d.Kind)
	if h != nil {
		h.reason = reasonOwner
	}
	return id, h
}

// readyID is the ARM ID of another object once its resource exists.
func readyID(obj *resource.Object, kindName string) (arm.ID, *halt) {
	st, err := obj.ParseStatus()
	if err != nil {
		return arm.ID{}, wait(reasonReference, fmt.Sprintf("%s %s: %v", kindName, obj.Name, err))
	}
	exists := len(st.Observed) > 0 && st.ResourceID != "" && (st.Operation == nil || st.Operation.Method != http.MethodPut)
	if !exists {
		return arm.ID{}, wait(reasonReference, fmt.Sprintf("%s %s is not ready yet", kindName, obj.Name))
	}
	id, err := arm.ParseID(st.ResourceID)
	if err != nil {
		return arm.ID{}, stall(reasonInvalid, fmt.Sprintf("%s %s: %v", kindName, obj.Name, err))
	}
	return id, nil
}

// ownerKind finds the running kind of an owner: the named one, else the only
// type that can own d.
func (r *Reconciler) ownerKind(d *resource.Descriptor, name string) *kind {
	for _, t := range d.Owners {
		if b := r.kinds.ofType(t); b != nil && (name == "" || strings.EqualFold(b.d.Kind, name)) {
			return b
		}
	}
	if name != "" && d.HasScope(resource.Extension) {
		for _, found := range r.opts.Catalog.ByKindName(name) {
			if b := r.kinds.get(found.GVK().GroupKind()); b != nil {
				return b
			}
		}
	}
	return nil
}

// owns reports whether the objects of child can lie in those of parent.
func owns(parent, child *resource.Descriptor) bool {
	return slices.ContainsFunc(child.Owners, func(t string) bool { return strings.EqualFold(t, parent.Type) })
}

func (x *run) subscription(ctx context.Context) (arm.ID, *halt) {
	var ns corev1.Namespace
	if err := x.r.opts.Reader.Get(ctx, types.NamespacedName{Name: x.obj.Namespace}, &ns); err != nil {
		return arm.ID{}, kubernetes(fmt.Errorf("getting namespace %s: %w", x.obj.Namespace, err))
	}
	sub := ns.Annotations[metav1alpha1.SubscriptionAnnotation]
	if sub == "" {
		sub = x.r.opts.Subscription
	}
	if sub == "" {
		return arm.ID{}, stall(reasonInvalid, fmt.Sprintf("spec.owner: no subscription; give owner.resourceID, the annotation %s on the namespace, or the manager's --subscription", metav1alpha1.SubscriptionAnnotation))
	}
	id, err := arm.ParseID("/subscriptions/" + strings.TrimPrefix(sub, "/subscriptions/"))
	if err != nil {
		return arm.ID{}, stall(reasonInvalid, fmt.Sprintf("reading the subscription: %v", err))
	}
	return id, nil
}

package controllers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/hooks"
	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/armclient"
	"github.com/armature-dev/armature/pkg/resource"
)

// groupType is the one type that contains resources of every other.
const groupType = "Microsoft.Resources/resourceGroups"

// orphans reports whether the resource stays when the object goes: adopted
// ones do, unless the policy says otherwise, and all do with their CRD.
func (x *run) orphans(ctx context.Context) (bool, *halt) {
	var crd CRD
	err := x.r.opts.Client.Get(ctx, types.NamespacedName{Name: x.kind.d.CRDName()}, &crd)
	if client.IgnoreNotFound(err) != nil {
		return false, kubernetes(fmt.Errorf("getting the CRD: %w", err))
	}
	if err != nil || !crd.DeletionTimestamp.IsZero() {
		return true, nil
	}
	policy := metav1alpha1.DeletionPolicy("")
	if x.spec.Policy != nil {
		policy = x.spec.Policy.Deletion
	}
	origin := x.status.Origin
	if j := decodeJournal(x.obj.Annotations[metav1alpha1.LastAppliedAnnotation], x.obj.Annotations[metav1alpha1.ClaimAnnotation]); origin == "" {
		origin = j.Origin
	}
	switch policy {
	case metav1alpha1.DeletionOrphan:
		return true, nil
	case metav1alpha1.DeletionDelete, metav1alpha1.DeletionDeleteContents:
		return false, nil
	}
	return origin == metav1alpha1.Adopted || x.observeOnly(), nil
}

// release ends the object without touching ARM.
func (x *run) release(ctx context.Context, why string) *halt {
	x.event(corev1.EventTypeNormal, why, "%s", x.obj.Annotations[metav1alpha1.ClaimAnnotation])
	base := x.obj.DeepCopy()
	x.obj.Finalizers = slices.DeleteFunc(x.obj.Finalizers, func(f string) bool { return f == metav1alpha1.Finalizer })
	if err := client.IgnoreNotFound(x.kind.client.Patch(ctx, x.obj, client.MergeFrom(base))); err != nil {
		return kubernetes(fmt.Errorf("removing the finalizer: %w", err))
	}
	return &halt{done: true}
}

// leave decides whether there is anything to delete in ARM, and waits for
// what lies in it.
func (x *run) leave(ctx context.Context) *halt {
	if !slices.Contains(x.obj.Finalizers, metav1alpha1.Finalizer) {
		return &halt{done: true}
	}
	orphan, h := x.orphans(ctx)
	if h != nil {
		return h
	}
	if orphan {
		return x.release(ctx, "Orphaned")
	}
	id, err := arm.ParseID(x.obj.Annotations[metav1alpha1.ClaimAnnotation])
	if err != nil {
		return x.release(ctx, "NothingToDelete")
	}
	x.id, x.claimed = id, true
	x.status.ResourceID = id.String()
	x.journal = decodeJournal(x.obj.Annotations[metav1alpha1.LastAppliedAnnotation], id.String())
	names, h := x.children(ctx)
	if h != nil {
		return h
	}
	if len(names) > 0 {
		return wait(reasonChildren, "these lie in it and have to be deleted first: "+strings.Join(names, ", "))
	}
	return nil
}

// children names the objects that have x as their owner.
func (x *run) children(ctx context.Context) ([]string, *halt) {
	var names []string
	for _, k := range x.r.kinds.all() {
		if !owns(x.kind.d, k.d) {
			continue
		}
		var list resource.ObjectList
		if err := k.cache.List(ctx, &list, client.InNamespace(x.obj.Namespace)); err != nil {
			return nil, kubernetes(fmt.Errorf("listing %s: %w", k.d.Kind, err))
		}
		for i := range list.Items {
			o := &list.Items[i]
			spec, err := o.ParseSpec()
			if err != nil || spec.Owner == nil || spec.Owner.Name != x.obj.Name || o.Annotations[metav1alpha1.ClaimAnnotation] == "" {
				continue
			}
			if spec.Owner.Kind == "" || strings.EqualFold(spec.Owner.Kind, x.kind.d.Kind) {
				names = append(names, k.d.Kind+"/"+o.Name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// remove deletes the resource and, once ARM holds it no more, lets the object
// go.
func (x *run) remove(ctx context.Context) *halt {
	if x.observed == nil {
		return x.release(ctx, "Deleted")
	}
	if h := x.strangers(ctx); h != nil {
		return h
	}
	if f, ok := hooks.For[hooks.Finalizer](x.r.opts.Hooks, x.kind.d.Type); ok {
		if err := f.Finalize(ctx, x.hookView(), below{x}); err != nil {
			return wait(reasonDeleting, err.Error())
		}
	}
	resp, op, err := x.client.Begin(ctx, armclient.Request{Method: http.MethodDelete, Path: x.id.String(), APIVersion: x.kind.d.APIVersion})
	if err != nil {
		if outcome, _ := armclient.Classify(http.MethodDelete, err, x.rules()...); outcome == armclient.Gone {
			return x.release(ctx, "Deleted")
		}
		h := refusal(http.MethodDelete, err, x.rules()...)
		h.stalled = false
		h.backoff = h.after == 0
		return h
	}
	if op == nil && !resp.PollResource {
		return x.release(ctx, "Deleted")
	}
	x.status.Operation = &metav1alpha1.OperationStatus{Method: http.MethodDelete, StartedAt: metav1.NewTime(x.r.opts.Now()), Generation: x.obj.Generation}
	if op != nil {
		if x.status.Operation.Token, err = op.Token(); err != nil {
			x.log.Error(err, "keeping no token; polling the resource")
		}
	}
	return later(reasonDeleting, progress(x.status.Operation), orPoll(resp.RetryAfter))
}

// strangers keeps a group that holds resources without an object.
func (x *run) strangers(ctx context.Context) *halt {
	contents := x.spec.Policy != nil && x.spec.Policy.Deletion == metav1alpha1.DeletionDeleteContents
	if x.kind.d.Type != groupType || contents {
		return nil
	}
	var names []string
	for item, err := range x.client.List(ctx, armclient.Request{Path: x.id.String() + "/resources", APIVersion: x.kind.d.APIVersion}) {
		if err != nil {
			return refusal(http.MethodGet, err, x.rules()...)
		}
		if id, ok := item["id"].(string); ok {
			names = append(names, id)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return &halt{reason: reasonNotEmpty, stalled: true, backoff: true, message: fmt.Sprintf("the group holds resources that no object manages: %s; remove them, or set spec.policy.deletion: DeleteContents to delete them with it", strings.Join(names, ", "))}
}

package controllers

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/pkg/resource"
)

type queue = workqueue.TypedRateLimitingInterface[Request]

// handler turns the events of a kind into requests: of the object where a
// person changed it, and of what waits for it where its state changed. The
// manager's own writes ask for nothing.
func (r *Reconciler) handler(d *resource.Descriptor) handler.TypedEventHandler[client.Object, Request] {
	gk := d.GVK().GroupKind()
	of := func(o client.Object) Request {
		return Request{GroupKind: gk, NamespacedName: client.ObjectKeyFromObject(o)}
	}
	return handler.TypedFuncs[client.Object, Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[client.Object], q queue) {
			q.Add(of(e.Object))
			r.wake(of(e.Object), q)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[client.Object], q queue) {
			if asked(e.ObjectOld, e.ObjectNew) {
				q.Add(of(e.ObjectNew))
			}
			before, ok1 := e.ObjectOld.(*resource.Object)
			after, ok2 := e.ObjectNew.(*resource.Object)
			if ok1 && ok2 && readyState(before) != readyState(after) {
				r.wake(of(e.ObjectNew), q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[client.Object], q queue) {
			r.wake(of(e.Object), q)
			r.wakeOwner(e.Object, d, q)
		},
	}
}

// asked reports whether somebody other than the manager changed the object.
func asked(before, after client.Object) bool {
	if before.GetGeneration() != after.GetGeneration() || before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() {
		return true
	}
	for _, a := range []string{metav1alpha1.ReconcileAnnotation, metav1alpha1.PauseAnnotation} {
		if before.GetAnnotations()[a] != after.GetAnnotations()[a] {
			return true
		}
	}
	return false
}

// wake asks for what depends on an object.
func (r *Reconciler) wake(of Request, q queue) {
	for _, req := range r.deps.of(of) {
		q.Add(req)
	}
}

// wakeOwner asks for the owner of an object that is gone: it may be waiting to
// be deleted.
func (r *Reconciler) wakeOwner(o client.Object, d *resource.Descriptor, q queue) {
	obj, ok := o.(*resource.Object)
	if !ok {
		return
	}
	spec, err := obj.ParseSpec()
	if err != nil || spec.Owner == nil || spec.Owner.Name == "" {
		return
	}
	if k := r.ownerKind(d, spec.Owner.Kind); k != nil {
		q.Add(Request{GroupKind: k.d.GVK().GroupKind(), NamespacedName: types.NamespacedName{Namespace: obj.Namespace, Name: spec.Owner.Name}})
	}
}

// dependents remembers who waits for whom. Every start fills it anew, since
// every object is reconciled then.
type dependents struct {
	mu sync.Mutex
	by map[Request]map[Request]bool
}

func (d *dependents) add(on, dependent Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == nil {
		d.by = map[Request]map[Request]bool{}
	}
	if d.by[on] == nil {
		d.by[on] = map[Request]bool{}
	}
	d.by[on][dependent] = true
}

func (d *dependents) of(on Request) []Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]Request, 0, len(d.by[on]))
	for r := range d.by[on] {
		all = append(all, r)
	}
	return all
}

func (d *dependents) forget(dependent Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for on, set := range d.by {
		delete(set, dependent)
		if len(set) == 0 {
			delete(d.by, on)
		}
	}
}

// dependsOn remembers that the object at hand needs another one.
func (x *run) dependsOn(d *resource.Descriptor, name string) {
	x.r.deps.add(Request{GroupKind: d.GVK().GroupKind(), NamespacedName: types.NamespacedName{Namespace: x.obj.Namespace, Name: name}}, x.req)
}

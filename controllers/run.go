package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/hooks"
	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/armclient"
	"github.com/armature-dev/armature/pkg/plan"
	"github.com/armature-dev/armature/pkg/resource"
)

// run is one pass over one object: its steps fill it in from top to bottom.
type run struct {
	r    *Reconciler
	req  Request
	kind *kind
	log  logr.Logger

	obj         *resource.Object
	savedStatus resource.JSON
	spec        *resource.Spec
	status      *metav1alpha1.Status

	id      arm.ID
	claimed bool
	journal journal
	client  *armclient.Client
	desired map[string]any

	observed map[string]any
	etag     string
	input    plan.Input
	todo     plan.Plan

	// wrote is the method of a write that this pass saw succeed; acted is true
	// once one was sent.
	wrote string
	acted bool
	// before is what was confirmed before the write that this pass confirmed.
	before map[string]any
}

// step is one part of a run; a halt ends it.
type step func(context.Context) *halt

func (x *run) steps() []step {
	if x.deleting() {
		return []step{x.leave, x.connect, x.poll, x.observe, x.remove}
	}
	look := []step{x.observe, x.claim, x.plan, x.act}
	steps := []step{x.paused, x.identify, x.connect, x.resolve, x.poll}
	return append(append(append(steps, look...), x.again(look)), x.join, x.settled)
}

// again observes once more after a write that succeeded at once.
func (x *run) again(look []step) step {
	return func(ctx context.Context) *halt {
		if !x.acted {
			return nil
		}
		return x.walk(ctx, look)
	}
}

func (x *run) walk(ctx context.Context, steps []step) *halt {
	for _, s := range steps {
		if h := s(ctx); h != nil {
			return h
		}
	}
	return nil
}

func (x *run) paused(context.Context) *halt {
	if x.obj.Annotations[metav1alpha1.PauseAnnotation] == "true" {
		return &halt{reason: reasonPaused, message: "annotation " + metav1alpha1.PauseAnnotation + " is true"}
	}
	return nil
}

func (x *run) connect(ctx context.Context) *halt {
	var h *halt
	x.client, h = x.r.opts.Connector.connect(ctx, x.obj.Namespace, x.spec.Credential, x.id)
	return h
}

// settled is the last word: ready, or a state that ARM calls failed.
func (x *run) settled(context.Context) *halt {
	if x.observeOnly() {
		if x.observed == nil {
			return wait(reasonMissing, "there is nothing to observe")
		}
		if n := len(x.todo.Changes); n > 0 {
			return &halt{reason: reasonObserving, message: fmt.Sprintf("policy.update is Observe; %d changes are not sent: %s", n, summary(x.todo))}
		}
		return nil
	}
	if state := arm.ProvisioningState(x.observed); !arm.IsSucceeded(state) {
		return wait(reasonProvisioningLost, "provisioningState is "+state)
	}
	if d, ok := hooks.For[hooks.ReadyDecider](x.r.opts.Hooks, x.kind.d.Type); ok {
		if ready, reason, message := d.Ready(x.hookView()); !ready {
			return wait(reason, message)
		}
	}
	return nil
}

// conclude turns how the run ended into conditions and writes the status, once
// and only if it changed.
func (x *run) conclude(ctx context.Context, h *halt) error {
	if h != nil && h.done {
		return nil
	}
	x.conditions(h)
	x.status.APIVersion = x.kind.d.APIVersion
	x.status.ObservedGeneration = x.obj.Generation
	b, err := json.Marshal(x.status)
	if err != nil {
		return fmt.Errorf("writing status: %w", err)
	}
	if sameJSON(b, x.savedStatus) {
		return nil
	}
	base := x.obj.DeepCopy()
	base.Status = x.savedStatus
	x.obj.Status = b
	if err := client.IgnoreNotFound(x.kind.client.Status().Patch(ctx, x.obj, client.MergeFrom(base))); err != nil {
		return fmt.Errorf("writing the status of %s: %w", x.req, err)
	}
	return nil
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && equality.Semantic.DeepEqual(x, y)
}

func (x *run) conditions(h *halt) {
	set := func(t string, s metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&x.status.Conditions, metav1.Condition{
			Type: t, Status: s, Reason: reason, Message: clip(message), ObservedGeneration: x.obj.Generation,
			LastTransitionTime: metav1.NewTime(x.r.opts.Now()),
		})
	}
	drop := func(t string) { meta.RemoveStatusCondition(&x.status.Conditions, t) }
	x.driftCondition(set, drop)
	switch {
	case h == nil:
		set(metav1alpha1.Ready, metav1.ConditionTrue, reasonReady, "the resource is as the spec wants it")
		drop(metav1alpha1.Reconciling)
		drop(metav1alpha1.Stalled)
	case h.stalled:
		set(metav1alpha1.Ready, metav1.ConditionFalse, h.reason, h.message)
		set(metav1alpha1.Stalled, metav1.ConditionTrue, h.reason, h.message)
		drop(metav1alpha1.Reconciling)
	default:
		set(metav1alpha1.Ready, metav1.ConditionFalse, h.reason, h.message)
		set(metav1alpha1.Reconciling, metav1.ConditionTrue, h.reason, h.message)
		drop(metav1alpha1.Stalled)
	}
}

// drifted is the condition type of status.drift.
const drifted = "Drifted"

func (x *run) driftCondition(set func(string, metav1.ConditionStatus, string, string), drop func(string)) {
	if len(x.status.Drift) == 0 {
		drop(drifted)
		return
	}
	d := x.status.Drift[0]
	set(drifted, metav1.ConditionTrue, reasonDrift, fmt.Sprintf("%d fields of ours were changed by others; the first: %s is %s, wanted %s", len(x.status.Drift), d.Path, d.Found, d.Wanted))
}

const maxMessage = 4096

func clip(s string) string {
	if len(s) > maxMessage {
		return s[:maxMessage] + "…"
	}
	return s
}

func (x *run) event(eventType, reason, format string, args ...any) {
	x.r.opts.Recorder.Eventf(x.obj, nil, eventType, reason, "Reconcile", format, args...)
}

// delay is when to come back after a run that ended with h.
func (r *Reconciler) delay(req Request, h *halt) time.Duration {
	switch {
	case h != nil && h.done:
		r.backoff.Forget(req)
		return 0
	case h != nil && h.after > 0:
		return h.after
	case h != nil && h.backoff:
		return r.jitter(max(r.backoff.When(req), time.Second))
	}
	r.backoff.Forget(req)
	return r.jitter(r.opts.Refresh)
}

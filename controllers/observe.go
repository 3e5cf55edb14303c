package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/armclient"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/plan"
	"github.com/armature-dev/armature/pkg/resource"
)

// pollEvery is how often a resource is polled where ARM does not say.
const pollEvery = 5 * time.Second

// poll follows the operation that the status remembers, once. Where it has
// ended well the run goes on, knowing that what was sent is applied.
func (x *run) poll(ctx context.Context) *halt {
	op := x.status.Operation
	if op == nil || op.Token == "" {
		return nil
	}
	resumed, err := x.client.Resume(op.Token)
	if err != nil {
		x.log.Info("dropping an operation that can't be resumed; polling the resource", "cause", err.Error())
		op.Token = ""
		return nil
	}
	op.Attempts++
	done, percent, after, err := x.client.Poll(ctx, resumed)
	switch {
	case err != nil && !done:
		h := refusal(op.Method, err, x.rules()...)
		h.stalled = false
		return h
	case errors.Is(err, armclient.ErrOperationGone):
		op.Token = ""
		return nil
	case err != nil:
		return x.failed(op, err)
	case !done:
		op.Percent = percent
		if token, err := resumed.Token(); err == nil {
			op.Token = token
		}
		return later(running(op.Method), progress(op), orPoll(after))
	}
	x.status.Operation = nil
	if op.Method != http.MethodDelete {
		x.confirm()
		x.wrote = op.Method
	}
	return nil
}

// failed ends an operation badly: what was sent stays pending, so that it is
// neither drift nor forgotten.
func (x *run) failed(op *metav1alpha1.OperationStatus, err error) *halt {
	x.status.Operation = nil
	x.event(corev1.EventTypeWarning, "OperationFailed", "%s: %v", op.Method, err)
	h := refusal(op.Method, err, x.rules()...)
	h.backoff = true
	return h
}

// confirm makes what was sent the confirmed state.
func (x *run) confirm() {
	if x.journal.Pending == nil {
		return
	}
	x.before = x.journal.Applied
	x.status.AppliedHash = hash(x.journal.Pending)
	x.journal = x.journal.settleBy(x.status.AppliedHash)
}

func orPoll(after time.Duration) time.Duration {
	if after <= 0 {
		return pollEvery
	}
	return after
}

func running(method string) string {
	switch method {
	case http.MethodDelete:
		return reasonDeleting
	case http.MethodPatch:
		return reasonUpdating
	}
	return reasonCreating
}

func progress(op *metav1alpha1.OperationStatus) string {
	if op.Percent > 0 {
		return fmt.Sprintf("%s is under way: %d %%", op.Method, op.Percent)
	}
	return op.Method + " is under way"
}

// observe GETs the resource. Absent, it leaves observed nil; in a state that
// is not final, it comes back later and plans nothing.
func (x *run) observe(ctx context.Context) *halt {
	resp, err := x.client.Do(ctx, armclient.Request{Method: http.MethodGet, Path: x.id.String(), APIVersion: x.kind.d.APIVersion, Background: x.wrote == ""})
	if err != nil {
		outcome, _ := armclient.Classify(http.MethodGet, err, x.rules()...)
		if outcome == armclient.Gone || outcome == armclient.MissingParent && x.absentWithParent(err) {
			x.observed, x.etag = nil, ""
			x.status.Observed, x.status.Operation = nil, nil
			return nil
		}
		h := refusal(http.MethodGet, err, x.rules()...)
		if outcome == armclient.MissingParent {
			h.message += "; create what it lies in, or correct spec.owner"
		}
		return h
	}
	before := x.status.Observed
	x.observed, x.etag = resp.Body, resp.ETag
	if x.observed == nil {
		x.observed = map[string]any{}
	}
	x.show()
	state := arm.ProvisioningState(x.observed)
	if !arm.IsTerminal(state) {
		reason := conditionReason(state)
		if reason == "" {
			reason = reasonUpdating
		}
		return later(reason, "the resource is "+state, orPoll(resp.RetryAfter))
	}
	if op := x.status.Operation; op != nil && op.Token == "" {
		x.status.Operation = nil
		if arm.IsSucceeded(state) && op.Method != http.MethodDelete {
			x.confirm()
			x.wrote = op.Method
		}
	}
	if x.wrote != "" {
		x.settle(before)
	}
	return nil
}

func (x *run) deleting() bool { return !x.obj.DeletionTimestamp.IsZero() }

// absentWithParent reports whether a missing parent says all that is asked: of
// a group itself, and of what is to be deleted.
func (x *run) absentWithParent(err error) bool {
	if x.kind.d.Type == groupType {
		return refusedWith(err, "ResourceGroupNotFound")
	}
	return x.deleting() && !refusedWith(err, "SubscriptionNotFound")
}

func refusedWith(err error, code string) bool {
	var e *arm.Error
	return errors.As(err, &e) && e.HasCode(code)
}

// maxObserved bounds status.observed.
const maxObserved = 256 << 10

// show puts what was observed into the status, without secrets.
func (x *run) show() {
	b, err := json.Marshal(resource.Redact(x.kind.d.Body, x.observed))
	if err != nil {
		return
	}
	x.status.Truncated = len(b) > maxObserved
	if x.status.Truncated {
		b, err = json.Marshal(map[string]any{"id": x.observed["id"], "name": x.observed["name"], "type": x.observed["type"]})
		if err != nil {
			return
		}
	}
	x.status.Observed = b
}

// settle compares what ARM made of a write with what was sent, and with what
// it held before.
func (x *run) settle(before json.RawMessage) {
	sent := x.journal.Applied
	x.status.Overridden = nil
	for _, s := range (plan.Input{Body: x.kind.d.Body, Desired: sent, Observed: x.observed}).Settle() {
		x.status.Overridden = append(x.status.Overridden, metav1alpha1.Overridden{Path: s.Path, Sent: raw(s.Sent), Settled: raw(s.Settled)})
	}
	x.status.Clobbered = nil
	old, err := field.DecodeObject(before)
	if err != nil || x.wrote != http.MethodPut || x.status.Origin == "" {
		return
	}
	for _, p := range plan.Lost(x.kind.d.Body, old, resource.Redact(x.kind.d.Body, x.observed), nil) {
		_, sentByUs := field.Lookup(sent, p)
		_, wasOurs := field.Lookup(x.before, p)
		if sentByUs || wasOurs {
			continue
		}
		x.status.Clobbered = append(x.status.Clobbered, p.String())
		x.event(corev1.EventTypeWarning, "Clobbered", "a PUT lost %s, which is not ours", p)
	}
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// claim makes the object the owner of the resource, or refuses: never of one
// that exists without being named.
func (x *run) claim(ctx context.Context) *halt {
	if x.observeOnly() {
		return nil
	}
	if other, h := x.rival(ctx); h != nil || other != "" {
		if h != nil {
			return h
		}
		return stall(reasonClaimed, fmt.Sprintf("%s is already managed by %s, which is older; delete one of the two", x.id, other))
	}
	if x.claimed {
		if x.status.Origin == "" {
			x.status.Origin = x.journal.Origin
		}
		return nil
	}
	origin := metav1alpha1.Created
	if x.observed != nil {
		if x.spec.ResourceID == "" {
			return &halt{reason: reasonExists, stalled: true, backoff: true, message: fmt.Sprintf("%s exists already and is not ours; to adopt it set spec.resourceID to this ID, or choose another name by spec.azureName", x.id)}
		}
		origin = metav1alpha1.Adopted
	} else if x.spec.ResourceID != "" {
		return wait(reasonMissing, fmt.Sprintf("%s, which spec.resourceID names, is not there; correct it, or leave it out to create the resource", x.id))
	}
	x.journal = journal{ArmID: x.id.String(), Origin: origin}
	x.status.Origin = origin
	x.claimed = true
	if h := x.writeJournal(ctx); h != nil {
		return h
	}
	if origin == metav1alpha1.Adopted {
		x.event(corev1.EventTypeNormal, "Adopted", "took over %s", x.id)
	}
	return nil
}

// rival finds an older object with the same claim.
func (x *run) rival(ctx context.Context) (string, *halt) {
	var list resource.ObjectList
	if err := x.kind.cache.List(ctx, &list, client.MatchingFields{claimIndex: x.id.Fold()}); err != nil {
		return "", kubernetes(fmt.Errorf("listing claims: %w", err))
	}
	for i := range list.Items {
		o := &list.Items[i]
		if o.UID != x.obj.UID && (!x.claimed || older(o.CreationTimestamp, string(o.UID), x.obj.CreationTimestamp, string(x.obj.UID))) {
			return o.Namespace + "/" + o.Name, nil
		}
	}
	return "", nil
}

func older(a metav1.Time, aUID string, b metav1.Time, bUID string) bool {
	if a.Equal(&b) {
		return aUID < bUID
	}
	return a.Before(&b)
}

// writeJournal puts finalizer, claim and journal on the object in one patch
// that fails if somebody else changed it meanwhile.
func (x *run) writeJournal(ctx context.Context) *halt {
	text, err := x.journal.encode()
	if err != nil {
		return stall(reasonTooLarge, err.Error())
	}
	base := x.obj.DeepCopy()
	if x.obj.Annotations == nil {
		x.obj.Annotations = map[string]string{}
	}
	x.obj.Annotations[metav1alpha1.ClaimAnnotation] = x.id.String()
	x.obj.Annotations[metav1alpha1.LastAppliedAnnotation] = text
	addFinalizer(x.obj)
	return x.patchMeta(ctx, base)
}

func addFinalizer(o *resource.Object) {
	if slices.Contains(o.Finalizers, metav1alpha1.Finalizer) {
		return
	}
	o.Finalizers = append(o.Finalizers, metav1alpha1.Finalizer)
}

// patchMeta sends the difference in metadata; the status in hand is kept.
func (x *run) patchMeta(ctx context.Context, base *resource.Object) *halt {
	p := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	if err := x.kind.client.Patch(ctx, x.obj, p); err != nil {
		return kubernetes(fmt.Errorf("updating metadata of %s: %w", x.obj.Name, err))
	}
	x.savedStatus = x.obj.Status
	return nil
}

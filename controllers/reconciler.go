// Package controllers holds the one generic reconciler: steps over one object
// of any kind that a catalog describes.
package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/hooks"
	"github.com/armature-dev/armature/pkg/plan"
	"github.com/armature-dev/armature/pkg/resource"
)

// Options are what a Reconciler needs. All but Subscription and Hooks are
// required.
type Options struct {
	Catalog   *resource.Catalog
	Connector *Connector
	Hooks     hooks.Registry
	Digests   DigestKey
	// Client reads CRDs from a cache; Reader reads Secrets and Namespaces
	// past it.
	Client   client.Reader
	Reader   client.Reader
	Recorder events.EventRecorder
	// Subscription is for objects that lie directly in one and say nothing.
	Subscription string
	// Refresh is how often a resource in its steady state is looked at.
	Refresh time.Duration
	// Workers reconcile at the same time.
	Workers int
	Now     func() time.Time
}

// Reconciler brings ARM to what the objects say.
type Reconciler struct {
	opts    Options
	kinds   *kinds
	queue   controller.TypedController[Request]
	backoff workqueue.TypedRateLimiter[Request]
	deps    dependents

	mu      sync.Mutex
	demotes map[demotion]bool
}

type demotion struct {
	armType string
	action  plan.Action
}

const (
	backoffFirst = time.Second
	backoffMost  = 5 * time.Minute
)

// New makes a reconciler; Setup starts it.
func New(cfg *rest.Config, hc *http.Client, mapper meta.RESTMapper, opts Options) *Reconciler {
	return &Reconciler{
		opts:    opts,
		kinds:   &kinds{cfg: cfg, http: hc, mapper: mapper, m: map[schema.GroupKind]*kind{}},
		backoff: workqueue.NewTypedItemExponentialFailureRateLimiter[Request](backoffFirst, backoffMost),
		demotes: map[demotion]bool{},
	}
}

// Setup adds the reconciler to a manager: one controller for all objects, and
// one that starts and stops kinds as their CRDs come and go.
func (r *Reconciler) Setup(ctx context.Context, mgr ctrl.Manager) error {
	all, err := controller.NewTyped("resources", mgr, controller.TypedOptions[Request]{
		MaxConcurrentReconciles: r.opts.Workers,
		Reconciler:              reconcile.TypedFunc[Request](r.Reconcile),
	})
	if err != nil {
		return fmt.Errorf("making the resource controller: %w", err)
	}
	r.queue = all
	crds, err := controller.New("kinds", mgr, controller.Options{Reconciler: reconcile.Func(func(rctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, r.follow(ctx, rctx, req)
	})})
	if err != nil {
		return fmt.Errorf("making the kind controller: %w", err)
	}
	return crds.Watch(source.Kind[client.Object](mgr.GetCache(), &CRD{}, &handler.EnqueueRequestForObject{}))
}

// follow starts or stops the kind of one CRD. Kinds live in ctx.
func (r *Reconciler) follow(ctx, rctx context.Context, req reconcile.Request) error {
	var crd CRD
	err := r.opts.Client.Get(rctx, req.NamespacedName, &crd)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("getting CRD %s: %w", req.Name, err)
	}
	for _, d := range r.opts.Catalog.All() {
		if d.CRDName() != req.Name {
			continue
		}
		gk := d.GVK().GroupKind()
		running := r.kinds.get(gk) != nil
		switch {
		case err == nil && crd.served() && !running:
			log.FromContext(rctx).Info("starting a kind", "kind", d.Kind, "type", d.Type)
			return r.kinds.start(ctx, d, r.watch)
		case err != nil && running:
			log.FromContext(rctx).Info("stopping a kind", "kind", d.Kind)
			r.kinds.stop(gk)
		}
	}
	return nil
}

func (r *Reconciler) watch(k *kind) error {
	return r.queue.Watch(source.TypedKind[client.Object, Request](k.cache, &resource.Object{}, r.handler(k.d)))
}

// Reconcile brings one object a step further. A worker never waits in it.
func (r *Reconciler) Reconcile(ctx context.Context, req Request) (reconcile.Result, error) {
	k := r.kinds.get(req.GroupKind)
	if k == nil {
		return reconcile.Result{}, nil
	}
	var obj resource.Object
	if err := k.client.Get(ctx, req.NamespacedName, &obj); err != nil {
		r.deps.forget(req)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	x := &run{r: r, req: req, kind: k, obj: &obj, savedStatus: obj.Status, log: log.FromContext(ctx)}
	h := x.parse()
	if h == nil {
		h = x.walk(ctx, x.steps())
	}
	if err := x.conclude(ctx, h); err != nil {
		x.log.Info("status not written; coming back", "cause", err.Error())
		return reconcile.Result{RequeueAfter: r.jitter(max(r.backoff.When(req), time.Second))}, nil
	}
	return reconcile.Result{RequeueAfter: r.delay(req, h)}, nil
}

func (x *run) parse() *halt {
	var err error
	if x.status, err = x.obj.ParseStatus(); err != nil {
		x.status = &metav1alpha1.Status{}
	}
	if x.spec, err = x.obj.ParseSpec(); err != nil {
		return stall(reasonInvalid, err.Error())
	}
	return nil
}

func (r *Reconciler) demote(armType string, a plan.Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.demotes[demotion{armType, a}] = true
}

func (r *Reconciler) demoted(armType string, a plan.Action) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.demotes[demotion{armType, a}]
}

// jitter spreads d by a tenth.
func (r *Reconciler) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d + time.Duration(rand.Int64N(int64(d)/10+1)) //nolint:gosec // spreading load needs no secrecy
}

// readyState is what others may wait for in an object: its ID, its
// observation and whether it is ready.
func readyState(o *resource.Object) string {
	st, err := o.ParseStatus()
	if err != nil {
		return ""
	}
	ready := meta.IsStatusConditionTrue(st.Conditions, "Ready")
	b, err := json.Marshal([]any{st.ResourceID, len(st.Observed) > 0, st.Operation != nil, ready, o.DeletionTimestamp})
	if err != nil {
		return ""
	}
	return string(b)
}

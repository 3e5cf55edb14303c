package controllers

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/pkg/resource"
)

// Request names one object of any kind.
type Request struct {
	schema.GroupKind
	types.NamespacedName
}

// String writes kind, namespace and name.
func (r Request) String() string { return r.Kind + " " + r.NamespacedName.String() }

// kind bundles what one kind needs: a scheme, cache and client of its own. Its
// life is that of its cache's context.
type kind struct {
	d      *resource.Descriptor
	cache  cache.Cache
	client client.Client
	cancel context.CancelFunc
	done   chan struct{}
}

const claimIndex = "claim"

// kinds are those whose CRDs are served.
type kinds struct {
	cfg    *rest.Config
	http   *http.Client
	mapper meta.RESTMapper

	mu sync.RWMutex
	m  map[schema.GroupKind]*kind
}

func (k *kinds) get(gk schema.GroupKind) *kind {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.m[gk]
}

// ofType finds the running kind of an ARM type; nil where there is none.
func (k *kinds) ofType(armType string) *kind {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, b := range k.m {
		if strings.EqualFold(b.d.Type, armType) {
			return b
		}
	}
	return nil
}

func (k *kinds) all() []*kind {
	k.mu.RLock()
	defer k.mu.RUnlock()
	all := make([]*kind, 0, len(k.m))
	for _, b := range k.m {
		all = append(all, b)
	}
	return all
}

// start makes the bundle of a kind and waits for nothing; watch starts the
// events.
func (k *kinds) start(ctx context.Context, d *resource.Descriptor, watch func(*kind) error) error {
	scheme := resource.NewScheme(d.GVK())
	c, err := cache.New(k.cfg, cache.Options{HTTPClient: k.http, Scheme: scheme, Mapper: k.mapper, DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		return fmt.Errorf("making the cache of %s: %w", d.Kind, err)
	}
	cl, err := client.New(k.cfg, client.Options{HTTPClient: k.http, Scheme: scheme, Mapper: k.mapper, Cache: &client.CacheOptions{Reader: c}})
	if err != nil {
		return fmt.Errorf("making the client of %s: %w", d.Kind, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	b := &kind{d: d, cache: c, client: cl, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		_ = c.Start(ctx)
	}()
	if err := c.IndexField(ctx, &resource.Object{}, claimIndex, func(o client.Object) []string {
		if claim := o.GetAnnotations()[metav1alpha1.ClaimAnnotation]; claim != "" {
			return []string{strings.ToLower(claim)}
		}
		return nil
	}); err != nil {
		cancel()
		return fmt.Errorf("indexing %s: %w", d.Kind, err)
	}
	k.mu.Lock()
	k.m[d.GVK().GroupKind()] = b
	k.mu.Unlock()
	return watch(b)
}

// stop ends a kind; its objects are not touched.
func (k *kinds) stop(gk schema.GroupKind) {
	k.mu.Lock()
	b := k.m[gk]
	delete(k.m, gk)
	k.mu.Unlock()
	if b != nil {
		b.cancel()
		<-b.done
	}
}

package controllers

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/armclient"
)

// NamespaceCredential is the Secret that holds a namespace's own credential.
const NamespaceCredential = "armature-credential" //nolint:gosec // a name, no credential

// Connector finds the credential for an object and keeps a client for each.
type Connector struct {
	Cloud   armclient.Cloud
	Global  armclient.CredentialConfig
	Options armclient.Options
	// SingleTenant lets every namespace use the global credential.
	SingleTenant bool
	// Reader reads Secrets and Namespaces; secrets are not to be cached.
	Reader client.Reader

	mu      sync.Mutex
	clients map[string]*armclient.Client
}

// connect returns the client for an object of a namespace that is to write to
// id: by the Secret that the spec names, else the namespace's own, else the
// global one where the namespace's allowed scopes admit it.
func (c *Connector) connect(ctx context.Context, namespace string, ref *metav1alpha1.CredentialRef, id arm.ID) (*armclient.Client, *halt) {
	var ns corev1.Namespace
	if err := c.Reader.Get(ctx, types.NamespacedName{Name: namespace}, &ns); err != nil {
		return nil, kubernetes(fmt.Errorf("getting namespace %s: %w", namespace, err))
	}
	scopes, limited := ns.Annotations[metav1alpha1.AllowedScopesAnnotation]
	if limited && !within(id, scopes) {
		return nil, stall(reasonScope, fmt.Sprintf("%s is outside of the scopes that namespace %s may write to (%s); add its prefix to the annotation %s", id, namespace, scopes, metav1alpha1.AllowedScopesAnnotation))
	}
	name, required := NamespaceCredential, false
	if ref != nil && ref.SecretName != "" {
		name, required = ref.SecretName, true
	}
	var secret corev1.Secret
	switch err := c.Reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &secret); {
	case err == nil:
		cfg, err := armclient.CredentialFromSecret(secret.Data)
		if err != nil {
			return nil, stall(reasonCredential, fmt.Sprintf("reading Secret %s: %v", name, err))
		}
		return c.client(namespace+"/"+name+"@"+secret.ResourceVersion, cfg)
	case !apierrors.IsNotFound(err):
		return nil, kubernetes(fmt.Errorf("getting Secret %s: %w", name, err))
	case required:
		return nil, wait(reasonCredential, fmt.Sprintf("Secret %s is not there; create it with AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET", name))
	case !limited && !c.SingleTenant:
		return nil, stall(reasonScope, fmt.Sprintf("namespace %s has neither a Secret %s nor the annotation %s; add one, or run the manager with --single-tenant", namespace, NamespaceCredential, metav1alpha1.AllowedScopesAnnotation))
	}
	return c.client("global", c.Global)
}

func (c *Connector) client(key string, cfg armclient.CredentialConfig) (*armclient.Client, *halt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.clients[key]; found != nil {
		return found, nil
	}
	cred, err := c.Cloud.NewCredential(cfg)
	if err != nil {
		return nil, wait(reasonCredential, err.Error())
	}
	opts := c.Options
	opts.Principal = cfg.TenantID + "/" + cfg.ClientID
	made, err := armclient.New(c.Cloud, cred, opts)
	if err != nil {
		return nil, wait(reasonCredential, err.Error())
	}
	if c.clients == nil {
		c.clients = map[string]*armclient.Client{}
	}
	c.clients[key] = made
	return made, nil
}

func within(id arm.ID, scopes string) bool {
	for s := range strings.SplitSeq(scopes, ",") {
		if s = strings.TrimSpace(s); s != "" && id.Within(s) {
			return true
		}
	}
	return false
}

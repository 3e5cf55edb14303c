package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/armature-dev/armature/webhooks"
)

const certificateSecret = "armature-webhook-cert"

// certificateFiles keeps the webhook's certificate files as the Secret has
// them. It stands in for a mounted volume, so that the manager needs none.
type certificateFiles struct {
	reader client.Reader
	key    types.NamespacedName
	dir    string
}

// Start copies until ctx ends: often at first, then once a minute.
func (c certificateFiles) Start(ctx context.Context) error {
	wait := time.Second
	for {
		if written, err := c.copy(ctx); err != nil {
			ctrl.Log.Error(err, "the webhook's certificate is not in place yet")
		} else if written {
			wait = time.Minute
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// NeedLeaderElection is false: every replica serves the webhook.
func (certificateFiles) NeedLeaderElection() bool { return false }

func (c certificateFiles) copy(ctx context.Context) (bool, error) {
	var s corev1.Secret
	if err := c.reader.Get(ctx, c.key, &s); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	names := []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey, "ca.crt"}
	for _, n := range names {
		if len(s.Data[n]) == 0 {
			return false, nil
		}
	}
	for _, n := range names {
		file := filepath.Join(c.dir, n)
		if old, err := os.ReadFile(filepath.Clean(file)); err == nil && bytes.Equal(old, s.Data[n]) {
			continue
		}
		if err := os.WriteFile(file+".new", s.Data[n], 0o600); err != nil {
			return false, fmt.Errorf("writing %s: %w", n, err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			return false, fmt.Errorf("writing %s: %w", n, err)
		}
	}
	return true, nil
}

var errNoCertificate = errors.New("the webhook's certificate is not in place yet")

// serveWebhook serves admission once the certificate, which the manager makes
// and renews itself, is in place.
func (f *managerFlags) serveWebhook(ctx context.Context, mgr ctrl.Manager, direct client.Client, v *webhooks.Validator) error {
	ready := make(chan struct{})
	key := types.NamespacedName{Namespace: f.namespace, Name: certificateSecret}
	empty := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := direct.Create(ctx, empty); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making Secret %s: %w", key, err)
	}
	rot := &rotator.CertRotator{
		SecretKey:      key,
		CertDir:        f.webhookCertDir,
		CAName:         "armature-ca",
		CAOrganization: "armature",
		DNSName:        fmt.Sprintf("%s.%s.svc", f.webhookService, f.namespace),
		ExtraDNSNames:  []string{"localhost"},
		IsReady:        ready,
		FieldOwner:     "armature",
	}
	if f.webhookConfig != "" {
		rot.Webhooks = []rotator.WebhookInfo{{Name: f.webhookConfig, Type: rotator.Validating}}
	}
	if err := rotator.AddRotator(mgr, rot); err != nil {
		return fmt.Errorf("adding the certificate rotator: %w", err)
	}
	if err := mgr.Add(certificateFiles{reader: direct, key: key, dir: f.webhookCertDir}); err != nil {
		return fmt.Errorf("adding the certificate's files: %w", err)
	}
	serve := manager.RunnableFunc(func(ctx context.Context) error {
		select {
		case <-ready:
			mgr.GetWebhookServer().Register(webhooks.Path, &webhook.Admission{Handler: v})
		case <-ctx.Done():
		}
		return nil
	})
	if err := mgr.Add(everyReplica{serve}); err != nil {
		return fmt.Errorf("adding the webhook: %w", err)
	}
	return mgr.AddReadyzCheck("webhook", func(*http.Request) error {
		select {
		case <-ready:
			return nil
		default:
			return errNoCertificate
		}
	})
}

// everyReplica runs with or without the lease.
type everyReplica struct{ manager.RunnableFunc }

// NeedLeaderElection is false.
func (everyReplica) NeedLeaderElection() bool { return false }

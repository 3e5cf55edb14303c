package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/armature-dev/armature/config"
	"github.com/armature-dev/armature/controllers"
	"github.com/armature-dev/armature/hooks"
	"github.com/armature-dev/armature/hooks/vmss"
	"github.com/armature-dev/armature/pkg/armclient"
	"github.com/armature-dev/armature/pkg/resource"
	"github.com/armature-dev/armature/webhooks"
)

// managerFlags are what the manager is told on its command line.
type managerFlags struct {
	metrics, health  string
	leaderElect      bool
	webhookPort      int
	webhookConfig    string
	webhookService   string
	webhookCertDir   string
	namespace        string
	catalog          string
	cloud            armclient.Cloud
	singleTenant     bool
	subscription     string
	refresh          time.Duration
	workers          int
	gracefulShutdown time.Duration
}

func newManagerCommand() *cobra.Command {
	f := managerFlags{cloud: armclient.PublicCloud()}
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Run the operator: reconciler, admission webhook and metrics",
		Long: "Run the operator against the cluster of KUBECONFIG (or the one it runs in). The credential comes from\n" +
			"AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE, or is a managed identity.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(ctrl.SetupSignalHandler()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.metrics, "metrics-bind-address", ":8080", "where metrics are served; 0 for nowhere")
	fl.StringVar(&f.health, "health-probe-bind-address", ":8081", "where /healthz and /readyz are served; 0 for nowhere")
	fl.BoolVar(&f.leaderElect, "leader-elect", false, "work only while holding the lease: for several replicas")
	fl.IntVar(&f.webhookPort, "webhook-port", 9443, "port of the admission webhook; 0 for none")
	fl.StringVar(&f.webhookConfig, "webhook-config-name", "", "ValidatingWebhookConfiguration to keep the CA certificate of; none where empty")
	fl.StringVar(&f.webhookService, "webhook-service", "armature-webhook", "Service in front of the webhook: the certificate's name")
	fl.StringVar(&f.webhookCertDir, "webhook-cert-dir", "", "folder for the webhook's certificate; a temporary one where empty")
	fl.StringVar(&f.namespace, "namespace", "armature-system", "the manager's own namespace: lease, certificate and digest key")
	fl.StringVar(&f.catalog, "catalog", "", "catalog file to use in place of the built-in one")
	fl.StringVar(&f.cloud.Endpoint, "arm-endpoint", f.cloud.Endpoint, "ARM's base URL")
	fl.StringVar(&f.cloud.Audience, "arm-audience", f.cloud.Audience, "audience of ARM tokens")
	fl.StringVar(&f.cloud.Authority, "arm-authority", f.cloud.Authority, "base URL of the login")
	fl.StringVar(&f.cloud.CAFile, "arm-ca-file", "", "PEM file of certificates to trust for ARM and the login")
	fl.BoolVar(&f.singleTenant, "single-tenant", false, "let every namespace use the manager's credential")
	fl.StringVar(&f.subscription, "subscription", os.Getenv("AZURE_SUBSCRIPTION_ID"), "subscription of objects that name none")
	fl.DurationVar(&f.refresh, "refresh", 15*time.Minute, "how often a resource in its steady state is read")
	fl.IntVar(&f.workers, "workers", 8, "objects reconciled at the same time")
	fl.DurationVar(&f.gracefulShutdown, "graceful-shutdown", 20*time.Second, "how long work in hand may take to end")
	return cmd
}

func (f *managerFlags) run(ctx context.Context) error {
	ctrl.SetLogger(zap.New(zap.UseDevMode(false)))
	cat, err := loadCatalog(f.catalog)
	if err != nil {
		return err
	}
	mgr, err := f.newManager()
	if err != nil {
		return err
	}
	direct, err := client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), HTTPClient: mgr.GetHTTPClient(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	digests, err := digestKey(ctx, direct, f.namespace)
	if err != nil {
		return err
	}
	registry := hooks.Registry{vmss.Type: vmss.Hook{}}
	r := controllers.New(mgr.GetConfig(), mgr.GetHTTPClient(), mgr.GetRESTMapper(), controllers.Options{
		Catalog: cat, Hooks: registry, Digests: digests,
		Client: mgr.GetClient(), Reader: direct, Recorder: mgr.GetEventRecorder("armature"),
		Subscription: f.subscription, Refresh: f.refresh, Workers: f.workers, Now: time.Now,
		Connector: &controllers.Connector{
			Cloud: f.cloud, Global: armclient.CredentialFromEnv(os.Getenv), SingleTenant: f.singleTenant, Reader: direct,
			Options: armclient.Options{Version: version, Limiter: armclient.NewLimiter(armclient.DefaultBudgets())},
		},
	})
	if err := r.Setup(ctx, mgr); err != nil {
		return err
	}
	if f.webhookPort > 0 {
		if err := f.serveWebhook(ctx, mgr, direct, &webhooks.Validator{Catalog: cat, Hooks: registry}); err != nil {
			return err
		}
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the manager: %w", hint(err))
	}
	return nil
}

// hint adds the way out to an error that a person can mend.
func hint(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "listen" {
		return fmt.Errorf("%w; choose another port with --metrics-bind-address, --health-probe-bind-address or --webhook-port", err)
	}
	return err
}

func (f *managerFlags) newManager() (ctrl.Manager, error) {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w; set KUBECONFIG", err)
	}
	cfg.QPS, cfg.Burst = 100, 200
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("making the scheme: %w", err)
	}
	controllers.AddCRDs(scheme)
	opts := ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       metricsserver.Options{BindAddress: f.metrics},
		HealthProbeBindAddress:        f.health,
		LeaderElection:                f.leaderElect,
		LeaderElectionID:              "armature-manager",
		LeaderElectionNamespace:       f.namespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &f.gracefulShutdown,
	}
	if f.webhookPort > 0 {
		if f.webhookCertDir == "" {
			if f.webhookCertDir, err = os.MkdirTemp("", "armature-webhook"); err != nil {
				return nil, fmt.Errorf("making a folder for the webhook's certificate: %w", err)
			}
		}
		opts.WebhookServer = webhook.NewServer(webhook.Options{Port: f.webhookPort, CertDir: f.webhookCertDir})
	}
	mgr, err := ctrl.NewManager(cfg, opts)
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", hint(err))
	}
	return mgr, errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping))
}

// loadCatalog reads the catalog file, or the built-in one.
func loadCatalog(file string) (*resource.Catalog, error) {
	if file == "" {
		return config.Catalog()
	}
	r, err := os.Open(filepath.Clean(file))
	if err != nil {
		return nil, fmt.Errorf("opening the catalog: %w", err)
	}
	defer r.Close()
	return resource.ReadCatalog(r)
}

const digestSecret = "armature-digest-key"

// digestKey reads the key of secret digests, and makes it at the first start.
func digestKey(ctx context.Context, c client.Client, namespace string) (controllers.DigestKey, error) {
	var s corev1.Secret
	key := types.NamespacedName{Namespace: namespace, Name: digestSecret}
	err := c.Get(ctx, key, &s)
	if apierrors.IsNotFound(err) {
		random := make([]byte, 36)
		if _, err := rand.Read(random); err != nil {
			return controllers.DigestKey{}, fmt.Errorf("making a digest key: %w", err)
		}
		s = corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: digestSecret},
			Data:       map[string][]byte{"id": fmt.Appendf(nil, "%x", random[:4]), "key": random[4:]},
		}
		if err = c.Create(ctx, &s); apierrors.IsAlreadyExists(err) {
			err = c.Get(ctx, key, &s)
		}
	}
	if err != nil {
		return controllers.DigestKey{}, fmt.Errorf("reading Secret %s: %w; does the namespace exist?", key, err)
	}
	return controllers.DigestKey{ID: string(s.Data["id"]), Key: s.Data["key"]}, nil
}

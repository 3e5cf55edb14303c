package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	namespacecontroller "k8s.io/kubernetes/pkg/controller/namespace"
	serviceaccountcontroller "k8s.io/kubernetes/pkg/controller/serviceaccount"
)

const (
	resync  = 12 * time.Hour
	workers = 5
)

// controllers runs the controllers against the cluster of a kubeconfig until
// SIGINT or SIGTERM. When they run it prints one line, "ready", to stdout.
func controllers(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("controllers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	kubeconfig := flags.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig of the API server")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("reading kubeconfig %q: %w", *kubeconfig, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := startControllers(ctx, config); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "ready")
	<-ctx.Done()
	return nil
}

// startControllers starts three controllers of kube-controller-manager and
// returns; they run until ctx ends. Without the namespace controller a deleted
// namespace stays in Terminating, without the garbage collector an owned object
// outlives its owner, without the third a namespace has no service account.
func startControllers(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 400, 2000
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a metadata client: %w", err)
	}
	shared := informers.NewSharedInformerFactory(client, resync)
	sharedMeta := metadatainformer.NewSharedInformerFactory(meta, resync)
	core := shared.Core().V1()

	namespaces := namespacecontroller.NewNamespaceController(ctx, client, meta,
		client.Discovery().ServerPreferredNamespacedResources, core.Namespaces(), resync, corev1.FinalizerKubernetes)
	accounts, err := serviceaccountcontroller.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(),
		core.Namespaces(), client, serviceaccountcontroller.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return fmt.Errorf("making the service-account controller: %w", err)
	}
	started := make(chan struct{})
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	garbage, err := garbagecollector.NewGarbageCollector(ctx, client, meta, mapper,
		garbagecollector.DefaultIgnoredResources(), informerfactory.NewInformerFactory(shared, sharedMeta), started)
	if err != nil {
		return fmt.Errorf("making the garbage collector: %w", err)
	}

	shared.Start(ctx.Done())
	sharedMeta.Start(ctx.Done())
	close(started)
	go namespaces.Run(ctx, workers)
	go accounts.Run(ctx, 1)
	go garbage.Run(ctx, workers, 5*time.Second)
	go garbage.Sync(ctx, client.Discovery(), 2*time.Second)
	return nil
}

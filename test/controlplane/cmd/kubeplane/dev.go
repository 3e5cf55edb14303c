package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// dev runs a whole control plane in this process until SIGINT or SIGTERM. When
// it is ready it has written the kubeconfig and prints one line to stdout:
//
//	ready kubeconfig=PATH
//
// Its data is temporary: on return it is gone, and so is the kubeconfig.
func dev(args []string, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("dev", flag.ContinueOnError)
	flags.SetOutput(stderr)
	kubeconfig := flags.String("kubeconfig", "", "write the administrator's kubeconfig here (default: with the data)")
	port := flags.Int("port", 0, "https port on 127.0.0.1 (0: any free one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kubeplane-")
	if err != nil {
		return fmt.Errorf("making a folder for the data: %w", err)
	}
	if *kubeconfig == "" {
		*kubeconfig = filepath.Join(dir, "kubeconfig")
	}
	defer func() {
		err = errors.Join(err, removeFile(*kubeconfig), os.RemoveAll(dir))
	}()
	return serve(genericapiserver.SetupSignalContext(), dir, *kubeconfig, *port, stdout)
}

// serve starts etcd, kube-apiserver and the controllers in this order, and
// returns when ctx has ended and the API server has stopped.
func serve(ctx context.Context, dir, kubeconfig string, port int, stdout io.Writer) error {
	etcd, err := startEtcd(dir)
	if err != nil {
		return err
	}
	defer etcd.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server, err := startAPIServer(ctx, dir, etcd.Config().AdvertiseClientUrls[0].String(), port)
	if err != nil {
		return stopped(ctx, err)
	}
	if err := startControllers(ctx, server.config); err != nil {
		return err
	}
	if err := writeKubeconfig(kubeconfig, server.config); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "ready kubeconfig=%s\n", kubeconfig)
	return <-server.done
}

// stopped returns err, or nil where it is only the answer to a signal during
// the start.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// writeKubeconfig writes config as a kubeconfig that needs no other file.
func writeKubeconfig(path string, config *rest.Config) error {
	ca, err := os.ReadFile(config.CAFile)
	if err != nil {
		return fmt.Errorf("reading the API server's certificate: %w", err)
	}
	const name = "kubeplane"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: ca}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}

// removeFile removes path, which needn't exist.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

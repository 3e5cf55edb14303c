// Command kubeplane is a whole Kubernetes control plane in one binary: etcd,
// kube-apiserver, kubectl, and the controllers that an operator can't do
// without.
//
// The name that it is called by selects the program, so symlinks named etcd,
// kube-apiserver and kubectl make its folder a KUBEBUILDER_ASSETS for envtest;
// called as kubeplane, its first argument does.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	// The version and client metrics of the stock binaries.
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectlcmd "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

const usage = `usage: kubeplane PROGRAM [arguments]

programs:
  dev             etcd, kube-apiserver and controllers in one process
  controllers     the namespace, garbage-collection and service-account controllers
  etcd            etcd's own command line
  kube-apiserver  kube-apiserver's own command line
  kubectl         kubectl's own command line
`

func main() {
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}

// run runs the program that args names and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	program, args := resolve(args)
	switch program {
	case "etcd":
		etcdmain.Main(args)
		return 0
	case "kube-apiserver":
		os.Args = args // cobra reads it
		return cli.Run(app.NewAPIServerCommand())
	case "kubectl":
		os.Args = args // cobra and the plugin handler read it
		// CheckErr prints as kubectl does, and exits with its code.
		kubectlutil.CheckErr(cli.RunNoErrOutput(kubectlcmd.NewDefaultKubectlCommand()))
		return 0
	case "dev":
		return report(dev(args[1:], stdout, stderr), stderr)
	case "controllers":
		return report(controllers(args[1:], stdout, stderr), stderr)
	default:
		fmt.Fprint(stderr, usage)
		return 2
	}
}

// resolve returns the program to run, and its arguments with its name in front.
// The program is "" where none was named.
func resolve(args []string) (string, []string) {
	switch name := filepath.Base(args[0]); name {
	case "etcd", "kube-apiserver", "kubectl":
		return name, args
	}
	if len(args) < 2 {
		return "", nil
	}
	return args[1], args[1:]
}

// report prints err, if there is one, and returns the exit code.
func report(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "kubeplane:", err)
	return 1
}

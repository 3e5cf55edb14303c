package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/pkg/armsim"
)

type simulateFlags struct {
	listen   string
	caOut    string
	catalog  string
	printEnv bool
	opts     armsim.Options
}

func newSimulateCommand() *cobra.Command {
	var flags simulateFlags
	c := &cobra.Command{
		Use: "simulate", Short: "Run a simulator of Azure Resource Manager", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return flags.run(ctx, c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&flags.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes any free one")
	f.DurationVar(&flags.opts.OperationDuration, "operation-duration", 2*time.Second, "how long operations run")
	f.DurationVar(&flags.opts.RetryAfter, "retry-after", time.Second, "what answers ask clients to wait, in whole seconds")
	f.StringSliceVar(&flags.opts.Subscriptions, "subscription", nil, "subscription that exists, may be repeated (default: any)")
	f.StringVar(&flags.opts.TenantID, "tenant", "", "the one tenant that issues tokens (default: any)")
	f.StringVar(&flags.opts.ClientID, "client-id", "", "the one client that logs in (default: any)")
	f.StringVar(&flags.opts.ClientSecret, "client-secret", "", "its secret (default: any)")
	f.IntVar(&flags.opts.OperationPolls, "operation-polls", 0, "end an operation when it has been asked for so often (default: when its time has come)")
	f.IntVar(&flags.opts.PageSize, "page-size", 0, "how many items a page of a list holds (default 1000)")
	f.BoolVar(&flags.opts.CheckReferences, "check-references", false, "refuse bodies that name resources which are not there, where the service is one that looks")
	f.StringSliceVar(&flags.opts.Unregistered, "unregistered", nil, "provider namespace that has to be registered first, may be repeated")
	f.BoolVar(&flags.opts.NoRateLimits, "no-rate-limits", false, "never answer 429")
	f.StringVar(&flags.caOut, "ca-out", "", "file to write the certificate to that clients have to trust")
	f.StringVar(&flags.catalog, "catalog", "", "catalog file to simulate (default: the built-in one)")
	f.BoolVar(&flags.printEnv, "print-env", false, "print the environment that clients need as export lines")
	return c
}

func (f *simulateFlags) run(ctx context.Context, out io.Writer) error {
	catalog, err := loadCatalog(f.catalog)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := armsim.New(catalog, f.opts).Start(ctx, f.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; stop what listens there, or choose another port with --listen (port 0 takes any free one)", err)
	}
	if err != nil {
		return err
	}
	if f.caOut != "" {
		if err := writeWhole(f.caOut, l.CAPEM); err != nil {
			return err
		}
	}
	if f.printEnv {
		f.env(out, l.URL)
	}
	fmt.Fprintf(out, "ready url=%s\n", l.URL)
	return l.Wait()
}

// writeWhole writes a file so that no reader sees half of it.
func writeWhole(path string, b []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("writing the certificate: %w", err)
	}
	_, err = tmp.Write(b)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("writing the certificate: %w", err)
	}
	return nil
}

// env prints what azidentity reads from the environment, and as a comment the
// manager's flags.
func (f *simulateFlags) env(out io.Writer, url string) {
	value := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	subscription := "00000000-0000-0000-0000-000000000001"
	if len(f.opts.Subscriptions) > 0 {
		subscription = f.opts.Subscriptions[0]
	}
	ca := ""
	if f.caOut != "" {
		ca = fmt.Sprintf(" --arm-ca-file=%q", f.caOut)
	}
	fmt.Fprintf(out, "# armature manager --arm-endpoint=%[1]s --arm-audience=%[1]s --arm-authority=%[1]s%[2]s\n", url, ca)
	for _, e := range [][2]string{
		{"AZURE_AUTHORITY_HOST", url},
		{"AZURE_RESOURCE_MANAGER_ENDPOINT", url},
		{"AZURE_RESOURCE_MANAGER_AUDIENCE", url},
		{"AZURE_TENANT_ID", value(f.opts.TenantID, "00000000-0000-0000-0000-00000000aaaa")},
		{"AZURE_CLIENT_ID", value(f.opts.ClientID, "00000000-0000-0000-0000-00000000bbbb")},
		{"AZURE_CLIENT_SECRET", value(f.opts.ClientSecret, "simulated")},
		{"AZURE_SUBSCRIPTION_ID", subscription},
		{"SSL_CERT_FILE", f.caOut},
	} {
		if e[1] != "" {
			fmt.Fprintf(out, "export %s=%q\n", e[0], e[1])
		}
	}
}

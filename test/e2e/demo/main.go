// Command demo shows the whole chain at work: a real API server, the ARM
// simulator, the manager and kubectl, step by step, with what a person would
// type and what ARM received.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/armature-dev/armature/test/e2e/env"
)

// report is build/demo.json.
type report struct {
	OK    bool         `json:"ok"`
	Steps []stepResult `json:"steps"`
}

type stepResult struct {
	Name    string  `json:"name"`
	OK      bool    `json:"ok"`
	Seconds float64 `json:"seconds"`
	Detail  string  `json:"detail"`
}

func main() {
	dev := flag.Bool("dev", false, "leave the set-up running after the resources are applied")
	binary := flag.String("armature", "bin/armature", "the binary to run, relative to the repository")
	out := flag.String("out", "build/demo.json", "where the report goes, relative to the repository")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *binary, *out, *dev)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out string, dev bool) error {
	root, err := env.Root()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "armature-demo")
	if err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	d := &demo{root: root, dir: dir, binary: filepath.Join(root, binary)}
	defer d.stop()
	steps := d.steps()
	if dev {
		steps = steps[:3]
	}
	r := d.walk(ctx, steps)
	if err := write(filepath.Join(root, out), r); err != nil {
		return err
	}
	if !r.OK {
		d.tail()
		return fmt.Errorf("a step failed; the report is %s", out)
	}
	if dev {
		say("\nrunning until Ctrl-C:\n\n  export KUBECONFIG=%s\n  %s get vmss,vnet,rg -n demo\n", d.kubeconfig(), d.kubectlPath())
		<-ctx.Done()
		return nil
	}
	say("\nall %d steps passed; the report is %s", len(r.Steps), out)
	return nil
}

func (d *demo) walk(ctx context.Context, steps []step) report {
	r := report{OK: true}
	for _, s := range steps {
		say("\n== %s: %s", s.name, s.about)
		start := time.Now()
		detail, err := s.do(ctx)
		res := stepResult{Name: s.name, OK: err == nil, Seconds: time.Since(start).Round(10 * time.Millisecond).Seconds(), Detail: detail}
		if err != nil {
			res.Detail = err.Error()
		}
		r.Steps = append(r.Steps, res)
		say("   %s (%.1f s): %s", verdict(res.OK), res.Seconds, res.Detail)
		if err != nil {
			r.OK = false
			return r
		}
	}
	return r
}

func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "FAILED"
}

func write(path string, r report) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("making the report's folder: %w", err)
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}

func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

package env

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	readyTimeout = 2 * time.Minute
	stopTimeout  = 20 * time.Second
	// tailSize bounds what an error quotes of a child's output.
	tailSize = 2048
)

// child is a process that says when it is ready, by a line that starts with
// "ready". It gets SIGTERM when it should stop, or when this process dies, and
// SIGKILL if it hasn't stopped after stopTimeout.
type child struct {
	name   string
	output *output
	cancel context.CancelFunc
	// exited is closed when the process is gone.
	exited chan struct{}
}

func startChild(ctx context.Context, log io.Writer, binary string, args ...string) (*child, error) {
	ctx, cancel := context.WithCancel(ctx)
	c := &child{
		name:   filepath.Base(binary) + " " + args[0],
		output: &output{log: log, ready: make(chan struct{})},
		cancel: cancel,
		exited: make(chan struct{}),
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdout, cmd.Stderr = c.output, c.output
	cmd.SysProcAttr = processAttributes()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	go func() {
		defer close(c.exited)
		_ = cmd.Wait() // how it ended is in its output
	}()
	return c, nil
}

// waitReady returns nil once the child says that it is ready.
func (c *child) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	var err error
	select {
	case <-c.output.ready:
		return nil
	case <-c.exited:
		err = errors.New("it exited")
	case <-ctx.Done():
		err = ctx.Err()
	}
	return fmt.Errorf("waiting for %s to be ready: %w; it said:\n%s", c.name, err, c.output.tail())
}

// stop stops the child and waits until it is gone.
func (c *child) stop() {
	c.cancel()
	<-c.exited
}

// output passes a child's output on, keeps the end of it, and closes ready at
// the first line that starts with "ready".
type output struct {
	log   io.Writer
	ready chan struct{}

	mu   sync.Mutex
	last []byte
	said bool
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = append(o.last, p...)
	if !o.said && isReady(o.last) {
		o.said = true
		close(o.ready)
	}
	if excess := len(o.last) - tailSize; excess > 0 {
		o.last = append([]byte(nil), o.last[excess:]...)
	}
	return o.log.Write(p)
}

func (o *output) tail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(bytes.TrimSpace(o.last))
}

// isReady reports whether text holds a complete line that starts with "ready".
func isReady(text []byte) bool {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("ready")) && bytes.HasSuffix(line, []byte("\n")) {
			return true
		}
	}
	return false
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a child whose output goes to a file.
type process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{}
}

// startProcess starts a child and waits for a line of its output that has a
// prefix; "" waits for nothing. It returns the rest of that line.
func startProcess(ctx context.Context, log string, environ []string, ready, path string, args ...string) (*process, string, error) {
	cmd := exec.Command(path, args...) //nolint:noctx // it outlives the step and is stopped by name
	cmd.Env = append(os.Environ(), environ...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	f, err := os.OpenFile(filepath.Clean(log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, "", fmt.Errorf("opening a log: %w", err)
	}
	r, w := io.Pipe()
	cmd.Stdout = io.MultiWriter(f, w)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("starting %s: %w", path, err)
	}
	p := &process{cmd: cmd, log: log, done: make(chan struct{})}
	found := make(chan string, 1)
	go scan(r, ready, found)
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		_ = w.Close()
		_ = f.Close()
		close(p.done)
	}()
	if ready == "" {
		return p, "", nil
	}
	select {
	case line := <-found:
		return p, line, nil
	case <-p.done:
		return nil, "", fmt.Errorf("%s ended at once: %s", filepath.Base(path), lastLines(log, 3))
	case <-time.After(time.Minute):
		p.stop()
		return nil, "", fmt.Errorf("%s did not say %q within a minute", filepath.Base(path), ready)
	case <-ctx.Done():
		p.stop()
		return nil, "", ctx.Err()
	}
}

func scan(r io.Reader, ready string, found chan<- string) {
	var once sync.Once
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if i := strings.Index(s.Text(), ready); ready != "" && i >= 0 {
			once.Do(func() { found <- s.Text()[i+len(ready):] })
		}
	}
	_, _ = io.Copy(io.Discard, r) // a line too long must not block the child
}

// stop ends the child politely, and after ten seconds at once.
func (p *process) stop() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		p.kill()
	}
}

// kill sends SIGKILL and waits for the end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func lastLines(path string, n int) string {
	b, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		return 0, fmt.Errorf("finding a port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

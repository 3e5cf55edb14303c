package env

import "syscall"

// processAttributes puts a child in a process group of its own, so that Ctrl-C
// reaches only us and things stop in order, and has the kernel stop it should
// we be killed.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

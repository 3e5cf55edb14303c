//go:build !linux

package env

import "syscall"

// processAttributes returns nil: only Linux stops a child with its parent.
func processAttributes() *syscall.SysProcAttr {
	return nil
}

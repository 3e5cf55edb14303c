// Command armature is the one binary: manager, simulator, generator and tools.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := newRootCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "armature:", err)
		os.Exit(1)
	}
}

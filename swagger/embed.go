// Package swagger holds what the generator is told beside upstream's files:
// the pinned specs, the kinds' names and the overlays.
package swagger

import "embed"

// Files are specs.lock.yaml, kinds.lock.yaml and overlays/*.yaml.
//
//go:embed specs.lock.yaml kinds.lock.yaml overlays/*.yaml
var Files embed.FS

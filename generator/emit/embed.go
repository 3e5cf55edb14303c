package emit

import "github.com/armature-dev/armature/generator/classify"

// Embed writes the Go package that carries the catalog and the CRDs.
func Embed([]*classify.Result) (File, error) {
	return File{Path: "config/embed.go", Content: []byte("// " + header + "\n" + embedSource)}, nil
}

const embedSource = `
// Package config carries the generated catalog and CRDs.
package config

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"

	"github.com/armature-dev/armature/pkg/resource"
)

//go:embed catalog.json.gz
var catalog []byte

//go:embed crd/*.yaml
var crds embed.FS

// Catalog reads the embedded catalog.
func Catalog() (*resource.Catalog, error) {
	return resource.ReadCatalog(bytes.NewReader(catalog))
}

// CRDs returns the embedded CustomResourceDefinitions as YAML, by file name.
func CRDs() (map[string][]byte, error) {
	files, err := fs.Glob(crds, "crd/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing CRDs: %w", err)
	}
	out := make(map[string][]byte, len(files))
	for _, f := range files {
		b, err := crds.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("reading CRD: %w", err)
		}
		out[f[len("crd/"):]] = b
	}
	return out, nil
}
`

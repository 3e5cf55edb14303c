package resource

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/pkg/field"
)

// Catalog is a set of descriptors, found by ARM type or by kind.
type Catalog struct {
	all    []*Descriptor
	byType map[string]*Descriptor
	byKind map[schema.GroupKind]*Descriptor
}

// NewCatalog gathers descriptors. Two of one ARM type or one kind are an
// error.
func NewCatalog(descriptors ...*Descriptor) (*Catalog, error) {
	c := &Catalog{byType: map[string]*Descriptor{}, byKind: map[schema.GroupKind]*Descriptor{}}
	for _, d := range descriptors {
		t := strings.ToLower(d.Type)
		if c.byType[t] != nil {
			return nil, fmt.Errorf("building a catalog: two descriptors of %s", d.Type)
		}
		gk := d.GVK().GroupKind()
		if o := c.byKind[gk]; o != nil {
			return nil, fmt.Errorf("building a catalog: %s and %s are both kind %s", o.Type, d.Type, gk)
		}
		c.byType[t], c.byKind[gk] = d, d
		c.all = append(c.all, d)
	}
	sort.Slice(c.all, func(i, j int) bool { return c.all[i].Type < c.all[j].Type })
	return c, nil
}

// All lists the descriptors by ARM type.
func (c *Catalog) All() []*Descriptor { return c.all }

// ByType finds a descriptor by ARM type, without case; nil where there is
// none.
func (c *Catalog) ByType(t string) *Descriptor { return c.byType[strings.ToLower(t)] }

// ByKind finds a descriptor by its Kubernetes kind; nil where there is none.
func (c *Catalog) ByKind(gk schema.GroupKind) *Descriptor { return c.byKind[gk] }

// ByKindName finds the descriptors of a kind in any group.
func (c *Catalog) ByKindName(kind string) []*Descriptor {
	var found []*Descriptor
	for _, d := range c.all {
		if strings.EqualFold(d.Kind, kind) {
			found = append(found, d)
		}
	}
	return found
}

// The names of a descriptor's trees in its table.
const (
	bodyRoot     = "body"
	patchRoot    = "patch"
	requestRoot  = "request:"
	responseRoot = "response:"
)

type catalogFile struct {
	// Format changes when older programs can't read the file.
	Format      int             `json:"format"`
	Descriptors []catalogRecord `json:"descriptors"`
}

type catalogRecord struct {
	*Descriptor
	Trees *field.Table `json:"trees"`
}

const catalogFormat = 1

// Write writes the catalog as gzipped JSON; equal catalogs give equal bytes.
func (c *Catalog) Write(w io.Writer) error {
	file := catalogFile{Format: catalogFormat}
	for _, d := range c.all {
		roots := map[string]*field.Field{bodyRoot: d.Body, patchRoot: d.Patch}
		for _, a := range d.Actions {
			roots[requestRoot+a.Name], roots[responseRoot+a.Name] = a.Request, a.Response
		}
		file.Descriptors = append(file.Descriptors, catalogRecord{Descriptor: d, Trees: field.NewTable(roots)})
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("writing a catalog: %w", err)
	}
	if err := json.NewEncoder(z).Encode(file); err != nil {
		return fmt.Errorf("writing a catalog: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("writing a catalog: %w", err)
	}
	return nil
}

// ReadCatalog reads what Write wrote.
func ReadCatalog(r io.Reader) (*Catalog, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("reading a catalog: expected gzip: %w", err)
	}
	var file catalogFile
	dec := json.NewDecoder(z)
	dec.UseNumber()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("reading a catalog: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("reading a catalog: %w", err)
	}
	if file.Format != catalogFormat {
		return nil, fmt.Errorf("reading a catalog: format %d, expected %d; generate it again with this version", file.Format, catalogFormat)
	}
	var all []*Descriptor
	for _, rec := range file.Descriptors {
		d, err := rec.link()
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return NewCatalog(all...)
}

func (rec catalogRecord) link() (*Descriptor, error) {
	d := rec.Descriptor
	if d == nil || rec.Trees == nil {
		return nil, errors.New("reading a catalog: a descriptor without trees")
	}
	roots, err := rec.Trees.Link()
	if err != nil {
		return nil, fmt.Errorf("reading the descriptor of %s: %w", d.Type, err)
	}
	d.Body, d.Patch = roots[bodyRoot], roots[patchRoot]
	for i := range d.Actions {
		a := &d.Actions[i]
		a.Request, a.Response = roots[requestRoot+a.Name], roots[responseRoot+a.Name]
	}
	if d.Body == nil {
		return nil, fmt.Errorf("reading the descriptor of %s: no body", d.Type)
	}
	return d, nil
}

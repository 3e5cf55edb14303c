package armsim

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

// record is one stored resource. The lists that show its children are not in
// body: the children are records of their own.
type record struct {
	id   arm.ID
	key  string
	desc *resource.Descriptor
	body map[string]any
	etag string
	seq  int
	// created and changed are when it was first and last written.
	created, changed time.Time
	// op is the operation that runs on the resource; nil where none does.
	op *operation
}

// shown is a list in a body that shows child resources.
type shown struct {
	path []string
	desc *resource.Descriptor
}

// store holds resources and operations. It knows nothing of HTTP and is not
// safe for concurrent use.
type store struct {
	records map[string]*record
	kids    map[string]map[string]*record
	ops     map[string]*operation
	running []*operation
	// kept is how many operations the last forgetting left.
	kept  int
	shown map[*resource.Descriptor][]shown
	seq   int
}

func newStore(catalog *resource.Catalog) *store {
	s := &store{
		records: map[string]*record{}, kids: map[string]map[string]*record{},
		ops: map[string]*operation{}, shown: map[*resource.Descriptor][]shown{},
	}
	for _, d := range catalog.All() {
		s.shown[d] = findShown(catalog, d.Body, nil)
	}
	return s
}

func findShown(catalog *resource.Catalog, f *field.Field, path []string) []shown {
	if f == nil || f.Type == nil || f.Kind != field.Object || len(path) > 3 {
		return nil
	}
	var found []shown
	for n, c := range f.Fields {
		at := append(slices.Clone(path), n)
		if d := catalog.ByType(c.Children); c.Children != "" && d != nil {
			found = append(found, shown{path: at, desc: d})
		} else if !c.Behaviours.Has(field.ReadOnly) {
			found = append(found, findShown(catalog, c, at)...)
		}
	}
	return found
}

func (s *store) get(id arm.ID) *record { return s.records[id.Fold()] }

// put stores a new resource.
func (s *store) put(id arm.ID, d *resource.Descriptor) *record {
	s.seq++
	r := &record{id: id, key: id.Fold(), desc: d, seq: s.seq, body: map[string]any{}}
	s.records[r.key] = r
	parent := id.Parent().Fold()
	if s.kids[parent] == nil {
		s.kids[parent] = map[string]*record{}
	}
	s.kids[parent][r.key] = r
	return r
}

// remove drops a resource and all that lies in it.
func (s *store) remove(key string) {
	for _, k := range s.children(key) {
		s.remove(k.key)
	}
	if r := s.records[key]; r != nil {
		delete(s.records, key)
		delete(s.kids[r.id.Parent().Fold()], key)
	}
	delete(s.kids, key)
}

// children lists what lies directly in a resource, oldest first.
func (s *store) children(key string) []*record {
	out := make([]*record, 0, len(s.kids[key]))
	for _, r := range s.kids[key] {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *record) int { return cmp.Compare(a.seq, b.seq) })
	return out
}

// below lists all that lies in a scope, oldest first.
func (s *store) below(key string) []*record {
	var out []*record
	for _, r := range s.children(key) {
		out = append(out, r)
		out = append(out, s.below(r.key)...)
	}
	return out
}

// touch gives a resource, and those that show it, a new etag.
func (s *store) touch(r *record) {
	for ; r != nil; r = s.shownIn(r) {
		r.etag = `W/"` + newUUID() + `"`
	}
}

// shownIn is the parent whose body shows r; nil where none does.
func (s *store) shownIn(r *record) *record {
	p := s.records[r.id.Parent().Fold()]
	if p == nil || !slices.ContainsFunc(s.shown[p.desc], func(x shown) bool { return x.desc == r.desc }) {
		return nil
	}
	return p
}

// busy finds a running operation on the resource or on one that is written
// together with it.
func (s *store) busy(id arm.ID, d *resource.Descriptor) *operation {
	r := s.get(id)
	if r == nil {
		r = &record{id: id, key: id.Fold(), desc: d}
	}
	for p := s.shownIn(r); p != nil; p = s.shownIn(r) {
		r = p
	}
	return s.busyBelow(r)
}

func (s *store) busyBelow(r *record) *operation {
	if r.op != nil {
		return r.op
	}
	for _, x := range s.shown[r.desc] {
		for _, k := range s.children(r.key) {
			if k.desc != x.desc {
				continue
			}
			if op := s.busyBelow(k); op != nil {
				return op
			}
		}
	}
	return nil
}

// full is a resource's whole body as stored: envelope, children, secrets.
func (s *store) full(r *record) map[string]any {
	out := field.CloneObject(r.body)
	fields := r.desc.Body.Fields
	set := func(name string, v any) {
		if fields[name] != nil || name != "etag" {
			out[name] = v
		}
	}
	set("id", r.id.String())
	set("name", r.id.Name())
	set("type", r.desc.Type)
	set("etag", r.etag)
	for _, x := range s.shown[r.desc] {
		items := []any{}
		for _, k := range s.children(r.key) {
			if k.desc == x.desc {
				items = append(items, s.full(k))
			}
		}
		insert(out, x.path, items)
	}
	return out
}

// view is what a GET shows of a resource.
func (s *store) view(r *record) map[string]any {
	v, _ := visible(r.desc.Body, s.full(r)).(map[string]any)
	return v
}

func insert(m map[string]any, path []string, v any) {
	for _, n := range path[:len(path)-1] {
		next, ok := m[n].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[n] = next
		}
		m = next
	}
	m[path[len(path)-1]] = v
}

// take removes the value at path and returns it.
func take(m map[string]any, path []string) (any, bool) {
	for _, n := range path[:len(path)-1] {
		next, ok := m[n].(map[string]any)
		if !ok {
			return nil, false
		}
		m = next
	}
	last := path[len(path)-1]
	v, ok := m[last]
	delete(m, last)
	return v, ok
}

// newUUID is a random version 4 UUID.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	const hex = "0123456789abcdef"
	var t strings.Builder
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			t.WriteByte('-')
		}
		t.WriteByte(hex[c>>4])
		t.WriteByte(hex[c&15])
	}
	return t.String()
}

// stamp writes a time as ARM does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.0000000Z") }

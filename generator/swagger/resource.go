package swagger

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-openapi/spec"

	"github.com/armature-dev/armature/pkg/field"
)

// The keys of Resource.Verbs.
const (
	Put    = "PUT"
	Get    = "GET"
	Patch  = "PATCH"
	Delete = "DELETE"
	Head   = "HEAD"
	List   = "LIST"
)

// Resource is one resource type at one version, with its operations resolved.
type Resource struct {
	Found

	// Verbs maps an HTTP method, or "LIST", to the operation of the first
	// route that has it.
	Verbs map[string]*Operation
	// Actions are the POSTs one segment below the resource, by that segment.
	Actions map[string]*Operation
	// Name is what the last path parameter says; a literal last segment is
	// its only value.
	Name Schema
	// Names are the literal last segments of the routes.
	Names []string
}

// Operation is one HTTP method of a type.
type Operation struct {
	ID            string
	File, Pointer string
	// Body is nil where the method takes none.
	Body *Prop
	// Responses are the success answers; a nil Prop is an empty answer.
	Responses  map[int]*Prop
	LRO        bool
	FinalState string
	IfMatch    bool
}

// Answer is the shape of the first of the given success codes that has one.
func (o *Operation) Answer(codes ...int) *Prop {
	if o == nil {
		return nil
	}
	for _, c := range codes {
		if p := o.Responses[c]; p != nil {
			return p
		}
	}
	return nil
}

// Resource resolves a type that an Index found in this space's folder.
func (s *Space) Resource(f Found) *Resource {
	r := &Resource{Found: f, Verbs: map[string]*Operation{}, Actions: map[string]*Operation{}}
	for i, route := range f.Routes {
		if !param(route.Name) {
			r.Names = append(r.Names, route.Name)
		} else if i == 0 {
			s.nameRule(r, route)
		}
	}
	for _, route := range f.Routes {
		self := bare(route.Path)
		list := self[:strings.LastIndexByte(self, '/')]
		for _, doc := range s.docs {
			for _, template := range sortedKeys(doc.paths) {
				item, path := doc.paths[template], bare(template)
				switch {
				case path == self:
					s.methods(r, doc, template, item)
				case path == list && item.Get != nil:
					s.verb(r.Verbs, List, doc, template, item, item.Get)
				case item.Post != nil && strings.HasPrefix(path, self+"/") && !strings.Contains(path[len(self)+1:], "/") && !strings.Contains(path[len(self):], "{"):
					name := template[strings.LastIndexByte(strings.TrimRight(template, "/"), '/')+1:]
					s.verb(r.Actions, strings.TrimRight(name, "/"), doc, template, item, item.Post)
				}
			}
		}
	}
	return r
}

func (s *Space) methods(r *Resource, doc *Document, template string, item spec.PathItem) {
	ops := map[string]*spec.Operation{
		Put: item.Put, Get: item.Get, Patch: item.Patch,
		Delete: item.Delete, Head: item.Head,
	}
	for _, m := range sortedKeys(ops) {
		if ops[m] != nil {
			s.verb(r.Verbs, m, doc, template, item, ops[m])
		}
	}
}

// verb resolves an operation unless an earlier route had it.
func (s *Space) verb(into map[string]*Operation, name string, doc *Document, template string, item spec.PathItem, op *spec.Operation) {
	if into[name] != nil {
		return
	}
	method := strings.ToLower(name)
	switch {
	case name == List:
		method = "get"
	case op == item.Post:
		method = "post"
	}
	pointer := "/paths/" + escape(template) + "/" + method
	o := &Operation{ID: op.ID, File: doc.File, Pointer: pointer, Responses: map[int]*Prop{}}
	o.LRO, _ = op.Extensions["x-ms-long-running-operation"].(bool)
	if x, ok := op.Extensions["x-ms-long-running-operation-options"].(map[string]any); ok {
		o.FinalState, _ = x["final-state-via"].(string)
	}
	params := s.parameters(doc, op.Parameters, pointer)
	for i, p := range params {
		switch {
		case p.In == "body" && p.Schema != nil:
			o.Body = s.prop(at{target: target{doc: p.doc, pointer: pointer + "/parameters/" + itoa(i) + "/schema"}, s: p.Schema})
		case p.In == "header" && strings.EqualFold(p.Name, "If-Match"):
			o.IfMatch = true
		}
	}
	s.answers(o, doc, op)
	into[name] = o
}

func (s *Space) answers(o *Operation, doc *Document, op *spec.Operation) {
	if op.Responses == nil {
		return
	}
	for code, resp := range op.Responses.StatusCodeResponses {
		if code < 200 || code > 299 {
			continue
		}
		from := doc
		if resp.Ref.String() != "" {
			to, v, err := s.loader.follow(doc, resp.Ref, o.Pointer+"/responses/"+strconv.Itoa(code))
			if err != nil {
				s.report(err)
				continue
			}
			if x, ok := v.(*spec.Response); ok {
				resp, from = *x, to.doc
			} else if x, ok := v.(spec.Response); ok {
				resp, from = x, to.doc
			}
		}
		o.Responses[code] = nil
		if resp.Schema != nil {
			o.Responses[code] = s.prop(at{target: target{doc: from, pointer: o.Pointer + "/responses/" + strconv.Itoa(code) + "/schema"}, s: resp.Schema})
		}
	}
}

// nameRule reads what the last path parameter's declaration says.
func (s *Space) nameRule(r *Resource, route Route) {
	name := strings.Trim(route.Name, "{}")
	for _, doc := range s.docs {
		for _, template := range sortedKeys(doc.paths) {
			item := doc.paths[template]
			if bare(template) != bare(route.Path) || item.Put == nil {
				continue
			}
			pointer := "/paths/" + escape(template)
			all := slices.Concat(s.parameters(doc, item.Parameters, pointer), s.parameters(doc, item.Put.Parameters, pointer+"/put"))
			for _, p := range all {
				if p.In != "path" || p.Name != name {
					continue
				}
				r.Name = Schema{Kind: field.String, Enum: scalars(p.Enum), Limits: field.Limits{
					Pattern: p.Pattern, MinLength: p.MinLength, MaxLength: p.MaxLength,
				}}
			}
			return
		}
	}
}

package armsim

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

// invalid names every problem of a body as a detail.
func invalid(problems []field.Problem) response {
	codes := map[field.Reason]string{
		field.Unknown: "InvalidProperty", field.WrongType: "InvalidJsonType", field.NotSupported: "InvalidValue",
		field.OutOfLimits: "ValueOutOfRange", field.IsReadOnly: "PropertyReadOnly", field.Missing: "MissingRequiredProperty",
	}
	e := &arm.Error{
		Status: http.StatusBadRequest, Code: "InvalidRequestContent", Target: problems[0].Path.String(),
		Message: "The request content was invalid: " + problems[0].Path.String() + ": " + problems[0].Detail + ".",
	}
	for _, p := range problems {
		e.Details = append(e.Details, arm.Error{Code: codes[p.Reason], Target: p.Path.String(), Message: p.Detail})
	}
	return failWith(e)
}

// refusedBody refuses what the type's tree does not allow.
func (s *Server) refusedBody(q *request, id arm.ID, d *resource.Descriptor, r *record, sent map[string]any) (response, bool) {
	tree := d.Body
	if q.method == http.MethodPatch && d.Patch != nil {
		tree = d.Patch
	}
	if q.method == http.MethodPut {
		if resp, refused := s.refusedName(id, d, r); refused {
			return resp, true
		}
		if name, _ := field.FoldedKey(sent, "location"); tracked(d) && sent[name] == nil {
			return fail(http.StatusBadRequest, "LocationRequired", "The location property is required for this definition."), true
		}
	}
	if problems := field.Validate(tree, sent, field.Checks{Required: true, Unknown: true}); len(problems) > 0 {
		return invalid(problems), true
	}
	name, _ := field.FoldedKey(sent, "tags")
	return refusedTags(sent[name])
}

// tracked reports whether the type's resources must have a location: those
// that lie in a group or subscription and have tags. A nested type says so
// itself where it wants one.
func tracked(d *resource.Descriptor) bool {
	l := d.Body.Fields["location"]
	return l != nil && d.ParentType() == "" && d.Body.Fields["tags"] != nil && !l.Behaviours.Has(field.ReadOnly)
}

// refusedChange refuses what can't change after creation.
func refusedChange(r *record, next map[string]any) (response, bool) {
	paths := frozen(r.desc.Body, nil, r.body, next)
	slices.SortFunc(paths, func(a, b field.Path) int { return strings.Compare(a.String(), b.String()) })
	e := &arm.Error{Status: http.StatusBadRequest, Code: "PropertyChangeNotAllowed"}
	for _, p := range paths {
		target := p.String()
		if target == "location" {
			was, _ := r.body["location"].(string)
			wants, _ := next["location"].(string)
			return fail(http.StatusConflict, "InvalidResourceLocation",
				"The resource '%s' already exists in location '%s' in resource group '%s'. A resource with the same name cannot be created in location '%s'. Please select a new resource name.",
				r.id.Name(), was, r.id.ResourceGroup, wants), true
		}
		e.Details = append(e.Details, arm.Error{Code: e.Code, Target: target, Message: "Changing property '" + target + "' is not allowed."})
	}
	if len(paths) == 0 {
		return response{}, false
	}
	e.Target, e.Message = e.Details[0].Target, e.Details[0].Message
	return failWith(e), true
}

// refusedName checks the name of a new resource.
func (s *Server) refusedName(id arm.ID, d *resource.Descriptor, r *record) (response, bool) {
	if r != nil {
		return response{}, false
	}
	name, rule := id.Name(), d.Name
	limit := arm.MaxName
	if rule.MaxLength > 0 {
		limit = rule.MaxLength
	}
	n := utf8.RuneCountInString(name)
	bad := n < rule.MinLength || n > limit || strings.ContainsAny(name, arm.ForbiddenInNames) || !utf8.ValidString(name)
	if rule.Fixed != "" {
		bad = bad || !strings.EqualFold(name, rule.Fixed)
	}
	if len(rule.Enum) > 0 {
		bad = bad || !slices.ContainsFunc(rule.Enum, func(e string) bool { return strings.EqualFold(e, name) })
	}
	if rule.Pattern != "" {
		if re, err := regexp.Compile(rule.Pattern); err == nil {
			bad = bad || !re.MatchString(name)
		}
	}
	if !bad {
		return response{}, false
	}
	return fail(http.StatusBadRequest, "InvalidResourceName",
		"Resource name '%s' is invalid: expected %d to %d characters%s, none of %s.", name, max(1, rule.MinLength), limit, patternText(rule.Pattern), arm.ForbiddenInNames), true
}

func patternText(p string) string {
	if p == "" {
		return ""
	}
	return " matching " + p
}

// refusedTags checks ARM's limits on tags.
func refusedTags(v any) (response, bool) {
	tags, _ := v.(map[string]any)
	if len(tags) > arm.MaxTags {
		return fail(http.StatusBadRequest, "InvalidTagsCount", "Expected at most %d tags, found %d.", arm.MaxTags, len(tags)), true
	}
	for k, v := range tags {
		s, text := v.(string)
		if k == "" || utf8.RuneCountInString(k) > arm.MaxTagKey || strings.ContainsAny(k, `<>%&\?/`) {
			return fail(http.StatusBadRequest, "InvalidTagNameCharacters", "The tag name '%s' is empty, too long or holds one of <>%%&\\?/.", k), true
		}
		if v != nil && (!text || utf8.RuneCountInString(s) > arm.MaxTagValue) {
			return fail(http.StatusBadRequest, "InvalidTagValue", "The value of tag '%s' is no text or longer than %d.", k, arm.MaxTagValue), true
		}
	}
	return response{}, false
}

// refusedChildren refuses lists of children with items that can't be
// resources, and changes that a child does not allow.
func (s *Server) refusedChildren(id arm.ID, d *resource.Descriptor, next map[string]any) (response, bool) {
	for _, x := range s.store.shown[d] {
		path := field.Path{}
		for _, n := range x.path {
			path = path.Name(n)
		}
		v, _ := field.Lookup(next, path)
		items, _ := v.([]any)
		seen := map[string]bool{}
		for i, item := range items {
			name, _ := field.Leaf(item, "name")
			child, err := id.Child(x.desc.LastType(), name)
			if err != nil || name == "" || seen[child.Fold()] {
				e := invalid([]field.Problem{{Path: path.At(i).Name("name"), Reason: field.Missing, Detail: "expected a name of its own"}})
				return e, true
			}
			seen[child.Fold()] = true
			r := s.store.get(child)
			if resp, refused := s.refusedName(child, x.desc, r); refused {
				return resp, true
			}
			if m, object := item.(map[string]any); object && r != nil {
				if resp, refused := refusedChange(r, m); refused {
					return resp, true
				}
			}
		}
	}
	return response{}, false
}

package armsim

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

// referenceCodes are what a service says of a reference that it can't use.
type referenceCodes struct {
	absentStatus int
	absent       string
	unready      string
	// retryable: an unready reference answers 429 RetryableError and gives
	// its own code as a detail.
	retryable bool
}

// referenceCodes knows the services that were seen to look at references;
// others (alert rules, role assignments, workspaces) accept any.
func (s *Server) referenceCodes(d *resource.Descriptor) (codes referenceCodes, checks bool) {
	switch strings.ToLower(d.Namespace()) {
	case "microsoft.app":
		return referenceCodes{absentStatus: http.StatusNotFound, absent: "ManagedEnvironmentNotFound", unready: "ManagedEnvironmentNotProvisioned"}, true
	case "microsoft.network":
		return referenceCodes{absentStatus: http.StatusBadRequest, absent: "InvalidResourceReference", unready: "ReferencedResourceNotProvisioned", retryable: true}, true
	case "microsoft.compute":
		return referenceCodes{absentStatus: http.StatusNotFound, absent: "NotFound", unready: "ReferencedResourceNotProvisioned"}, true
	}
	return referenceCodes{}, false
}

// refusedReference refuses a body that names a resource of the catalog's
// types which is not there, or is only being created.
func (s *Server) refusedReference(id arm.ID, d *resource.Descriptor, body map[string]any) (response, bool) {
	codes, checks := s.referenceCodes(d)
	if !checks || !s.opts.CheckReferences {
		return response{}, false
	}
	var refusal *arm.Error
	walkReferences(d.Body, nil, body, func(p field.Path, text string) bool {
		target, err := arm.ParseID(text)
		if err != nil || !strings.EqualFold(target.SubscriptionID, id.SubscriptionID) || target.Within(id.String()) {
			return true
		}
		if s.catalog.ByType(target.Type()) == nil {
			return true
		}
		refusal = s.badReference(codes, p, target)
		return refusal == nil
	})
	if refusal == nil {
		return response{}, false
	}
	return failWith(refusal), true
}

func (s *Server) badReference(codes referenceCodes, p field.Path, target arm.ID) *arm.Error {
	r := s.store.get(target)
	switch {
	case r == nil:
		return &arm.Error{
			Status: codes.absentStatus, Code: codes.absent, Target: p.String(),
			Message: "Resource " + target.String() + " referenced by the request was not found.",
		}
	case r.op == nil || r.op.deletes || !r.op.creates:
		return nil
	}
	unready := arm.Error{
		Status: http.StatusBadRequest, Code: codes.unready, Target: p.String(),
		Message: "Cannot proceed because resource " + target.String() + " has not been provisioned successfully.",
	}
	if codes.retryable {
		return &arm.Error{
			Status: http.StatusTooManyRequests, Code: "RetryableError", Message: "A retryable error occurred.", Details: []arm.Error{unready},
		}
	}
	return &unready
}

// walkReferences shows every string in a body that a client sets and that
// looks like a resource ID, until see returns false.
func walkReferences(f *field.Field, p field.Path, v any, see func(field.Path, string) bool) bool {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			c := childOf(f, x, k)
			if c != nil && c.Behaviours.Has(field.ReadOnly) {
				continue
			}
			if !walkReferences(c, p.Name(k), x[k], see) {
				return false
			}
		}
	case []any:
		for i, e := range x {
			if !walkReferences(elem(f), p.At(i), e, see) {
				return false
			}
		}
	case string:
		return !strings.HasPrefix(x, "/subscriptions/") || see(p, x)
	}
	return true
}

// Package webhooks holds the one generic validating webhook: what the
// descriptor, the planner and the hooks can say of a spec at once.
package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/hooks"
	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/plan"
	"github.com/armature-dev/armature/pkg/resource"
)

// Path is where the webhook is served.
const Path = "/validate"

// Validator answers admission reviews of every kind in the catalog.
type Validator struct {
	Catalog *resource.Catalog
	Hooks   hooks.Registry
}

// Handle admits or refuses one object. Kinds that the catalog doesn't know are
// admitted.
func (v *Validator) Handle(_ context.Context, req admission.Request) admission.Response {
	d := v.Catalog.ByKind(schema.GroupKind{Group: req.Kind.Group, Kind: req.Kind.Kind})
	if d == nil || req.SubResource != "" {
		return admission.Allowed("")
	}
	now, err := decode(req.Object.Raw)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	var before *object
	if req.Operation == admissionv1.Update {
		if before, err = decode(req.OldObject.Raw); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
	}
	if problems := v.check(d, now, before); len(problems) > 0 {
		return admission.Denied(text(d, problems))
	}
	resp := admission.Allowed("")
	if req.DryRun != nil && *req.DryRun {
		resp = resp.WithWarnings(preview(d, now)...)
	}
	return resp
}

// object is what an admission review carries, taken apart.
type object struct {
	*resource.Object
	spec   *resource.Spec
	status *metav1alpha1.Status
}

func decode(raw []byte) (*object, error) {
	o := &resource.Object{}
	if err := json.Unmarshal(raw, o); err != nil {
		return nil, fmt.Errorf("reading the object: %w", err)
	}
	spec, err := o.ParseSpec()
	if err != nil {
		return nil, err
	}
	status, err := o.ParseStatus()
	if err != nil {
		status = &metav1alpha1.Status{}
	}
	return &object{o, spec, status}, nil
}

func (v *Validator) check(d *resource.Descriptor, now, before *object) []field.Problem {
	lifted := now.spec.ResourceID != "" || now.spec.Policy != nil && now.spec.Policy.Update == metav1alpha1.UpdateObserve
	problems := field.Validate(d.Body, now.spec.Body, field.Checks{Required: !lifted, ReadOnly: true, Unknown: true, References: true})
	problems = append(problems, place(d, now)...)
	problems = append(problems, names(d, now)...)
	if before != nil {
		problems = append(problems, fixed(d, now, before)...)
	}
	if h, ok := hooks.For[hooks.Validator](v.Hooks, d.Type); ok {
		problems = append(problems, h.Validate(hooks.Resource{Desired: now.spec.Body})...)
	}
	return problems
}

func problem(path string, reason field.Reason, format string, args ...any) field.Problem {
	p, err := field.ParsePath(path)
	if err != nil {
		p = field.Path{}.Name(path)
	}
	return field.Problem{Path: p, Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// place checks where the resource is to lie.
func place(d *resource.Descriptor, o *object) []field.Problem {
	if id := o.spec.ResourceID; id != "" {
		parsed, err := arm.ParseID(id)
		switch {
		case err != nil:
			return []field.Problem{problem("resourceID", field.OutOfLimits, "%v", err)}
		case !strings.EqualFold(parsed.Type(), d.Type):
			return []field.Problem{problem("resourceID", field.OutOfLimits, "expected an ID of type %s, found one of %s", d.Type, parsed.Type())}
		}
		return nil
	}
	owner := o.spec.Owner
	switch {
	case owner == nil && d.HasScope(resource.Subscription), owner == nil && d.HasScope(resource.Tenant):
		return nil
	case owner == nil || owner.Name == "" && owner.ResourceID == "":
		return []field.Problem{problem("owner", field.Missing, "name the object that the resource lies in (%s), or give its resourceID", strings.Join(d.Owners, " or "))}
	case owner.Name != "" && owner.ResourceID != "":
		return []field.Problem{problem("owner", field.OutOfLimits, "expected name or resourceID, found both")}
	case owner.ResourceID != "":
		if _, err := arm.ParseID(owner.ResourceID); err != nil {
			return []field.Problem{problem("owner.resourceID", field.OutOfLimits, "%v", err)}
		}
	}
	return nil
}

// names checks the Azure name against the type's rule.
func names(d *resource.Descriptor, o *object) []field.Problem {
	if o.spec.ResourceID != "" || d.Name.Fixed != "" {
		return nil
	}
	name, at := o.spec.AzureName, "azureName"
	if name == "" {
		name = o.Name
	}
	if strings.ContainsAny(name, arm.ForbiddenInNames) {
		return []field.Problem{problem(at, field.OutOfLimits, "%q: none of %s is allowed in a name", name, arm.ForbiddenInNames)}
	}
	rule := field.Type{Kind: field.String, Limits: field.Limits{Pattern: d.Name.Pattern}}
	most := int64(arm.MaxName)
	if d.Name.MaxLength > 0 {
		most = int64(d.Name.MaxLength)
	}
	least := int64(d.Name.MinLength)
	rule.MinLength, rule.MaxLength = &least, &most
	for _, e := range d.Name.Enum {
		rule.Enum, rule.Closed = append(rule.Enum, e), true
	}
	problems := field.Validate(&field.Field{Type: &rule}, name, field.Checks{})
	for i := range problems {
		problems[i].Path = field.Path{}.Name(at)
		problems[i].Detail += fmt.Sprintf("; the name is %q: choose another with spec.azureName", name)
	}
	return problems
}

// Immutable refuses a change of what names the resource.
const Immutable field.Reason = "Immutable"

// fixed compares with the object as it was: what names the resource, and what
// is set at creation alone.
func fixed(d *resource.Descriptor, now, before *object) []field.Problem {
	var problems []field.Problem
	for _, c := range []struct {
		path     string
		now, old string
	}{
		{"azureName", now.spec.AzureName, before.spec.AzureName},
		{"owner", ownerText(now.spec.Owner), ownerText(before.spec.Owner)},
	} {
		if c.now != c.old {
			problems = append(problems, problem(c.path, Immutable, "was %q, can't be changed to %q; delete the object and create it anew", c.old, c.now))
		}
	}
	if old := before.spec.ResourceID; old != "" && now.spec.ResourceID != "" && !strings.EqualFold(old, now.spec.ResourceID) {
		problems = append(problems, problem("resourceID", Immutable, "was %q, can't be changed; delete the object (an adopted resource stays) and create another", old))
	}
	if before.status.ResourceID == "" {
		return problems
	}
	p := plan.New(plan.Input{Body: d.Body, Desired: now.spec.Body, Applied: before.spec.Body, Observed: before.spec.Body})
	for _, r := range p.Refused {
		if r.Reason == plan.CreateOnlyChange {
			problems = append(problems, r)
		}
	}
	return problems
}

func ownerText(o *metav1alpha1.Owner) string {
	if o == nil {
		return ""
	}
	return strings.Trim(o.Kind+"/"+o.Name+o.ResourceID, "/")
}

func text(d *resource.Descriptor, problems []field.Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = "spec." + p.Error()
	}
	return fmt.Sprintf("%s (%s): %s", d.Kind, d.Type, strings.Join(lines, "; "))
}

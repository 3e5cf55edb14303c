package armclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/armature-dev/armature/pkg/arm"
)

// TestClassify holds refusals that real services were seen to give.
func TestClassify(t *testing.T) {
	t.Parallel()
	const get, put, patch, del = http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete
	for name, tc := range map[string]struct {
		method string
		err    arm.Error
		want   Outcome
	}{
		"throttled":                        {put, arm.Error{Status: 429, Code: "429"}, Throttled},
		"throttled, empty":                 {get, arm.Error{Status: 429}, Throttled},
		"429 of a dependency":              {put, arm.Error{Status: 429, Code: "RetryableError"}, WaitDependency},
		"get of nothing":                   {get, arm.Error{Status: 404, Code: "ResourceNotFound", FailureCause: "gateway"}, Gone},
		"get of nothing, by the service":   {get, arm.Error{Status: 404, Code: "NotFound"}, Gone},
		"get of nothing, empty":            {get, arm.Error{Status: 404}, Gone},
		"head of nothing":                  {http.MethodHead, arm.Error{Status: 404}, Gone},
		"delete of nothing":                {del, arm.Error{Status: 404, Code: "ResourceNotFound"}, Gone},
		"delete in no group":               {del, arm.Error{Status: 404, Code: "ResourceGroupNotFound", FailureCause: "gateway"}, Gone},
		"delete below nothing":             {del, arm.Error{Status: 404, Code: "ParentResourceNotFound", FailureCause: "gateway"}, Gone},
		"delete in no topic subscription":  {del, arm.Error{Status: 404, Code: "SubscriptionNotFound"}, MissingParent},
		"delete in no subscription":        {del, arm.Error{Status: 404, Code: "SubscriptionNotFound", FailureCause: "gateway"}, MissingParent},
		"a group that only a service lost": {del, arm.Error{Status: 404, Code: "ResourceGroupNotFound", FailureCause: "service"}, MissingParent},
		"get in no group":                  {get, arm.Error{Status: 404, Code: "ResourceGroupNotFound", FailureCause: "gateway"}, MissingParent},
		"get of an unknown type":           {get, arm.Error{Status: 404, Code: "InvalidResourceType", FailureCause: "gateway"}, Invalid},
		"patch of nothing":                 {patch, arm.Error{Status: 404, Code: "ResourceNotFound"}, Gone},
		"put in no group":                  {put, arm.Error{Status: 404, Code: "ResourceGroupNotFound", FailureCause: "gateway"}, MissingParent},
		"put in no subscription":           {put, arm.Error{Status: 404, Code: "SubscriptionNotFound", FailureCause: "gateway"}, MissingParent},
		"put beside nothing":               {put, arm.Error{Status: 404, Code: "NotFound", Message: "Cannot find serverFarm"}, WaitDependency},
		"environment missing":              {put, arm.Error{Status: 404, Code: "ManagedEnvironmentNotFound"}, WaitDependency},
		"environment not ready":            {put, arm.Error{Status: 400, Code: "ManagedEnvironmentNotProvisioned"}, WaitDependency},
		"principal not replicated":         {put, arm.Error{Status: 400, Code: "PrincipalNotFound"}, WaitDependency},
		"identity not replicated":          {put, arm.Error{Status: 400, Code: "FailedIdentityOperation", FailureCause: "gateway"}, WaitDependency},
		"reference not ready":              {put, arm.Error{Status: 400, Code: "ReferencedResourceNotProvisioned"}, WaitDependency},
		"subnet in use":                    {del, arm.Error{Status: 400, Code: "InUseSubnetCannotBeDeleted"}, WaitDependency},
		"children in the way":              {del, arm.Error{Status: 409, Code: "CannotDeleteResource"}, WaitDependency},
		"operation waits in a detail":      {put, arm.Error{Code: "Failed", Details: []arm.Error{{Code: "RetryableError"}}}, WaitDependency},
		"someone else is at it":            {put, arm.Error{Status: 409, Code: "AnotherOperationInProgress"}, Conflict},
		"service locked":                   {put, arm.Error{Status: 409, Code: "ServiceLocked"}, Conflict},
		"409":                              {put, arm.Error{Status: 409, Code: "Conflict"}, Conflict},
		"412":                              {put, arm.Error{Status: 412, Code: "PreconditionFailed"}, Conflict},
		"soft-deleted":                     {put, arm.Error{Status: 409, Code: "ServiceAlreadyExistsInSoftDeletedState"}, Invalid},
		"401":                              {get, arm.Error{Status: 401, Code: "InvalidAuthenticationToken"}, Unauthorized},
		"403":                              {put, arm.Error{Status: 403, Code: "AuthorizationFailed"}, Forbidden},
		"a lock":                           {del, arm.Error{Status: 409, Code: "ScopeLocked"}, Forbidden},
		"a policy":                         {put, arm.Error{Status: 403, Code: "RequestDisallowedByPolicy"}, Invalid},
		"not registered":                   {put, arm.Error{Status: 409, Code: "MissingSubscriptionRegistration"}, NotRegistered},
		"405":                              {patch, arm.Error{Status: 405, Message: "does not support http method"}, Unsupported},
		"415":                              {patch, arm.Error{Status: 415}, Unsupported},
		"501":                              {patch, arm.Error{Status: 501}, Unsupported},
		"400":                              {put, arm.Error{Status: 400, Code: "InvalidParameter"}, Invalid},
		"422":                              {put, arm.Error{Status: 422}, Invalid},
		"500":                              {put, arm.Error{Status: 500}, Retry},
		"503":                              {get, arm.Error{Status: 503}, Retry},
		"an operation that failed":         {put, arm.Error{Code: "AllocationFailed"}, Failed},
		"an operation that met another":    {put, arm.Error{Code: "Conflict"}, Conflict},
		"an operation that broke":          {put, arm.Error{Code: "InternalServerError"}, Retry},
		"an owner that is not ready":       {put, arm.Error{Code: "VirtualEndpointOwnerServerNotInReadyState"}, WaitDependency},
		"a redirect":                       {get, arm.Error{Status: 307}, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrapped := fmt.Errorf("acting: %w", &CallError{Method: tc.method, err: &tc.err, RetryAfter: time.Second})
			got, after := Classify(tc.method, wrapped)
			if got != tc.want || after != time.Second {
				t.Errorf("got %s after %s, want %s after 1s", got, after, tc.want)
			}
		})
	}
}

func TestClassifyOtherErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want Outcome
	}{
		"none":      {nil, OK},
		"cancelled": {context.Canceled, Retry},
		"cut":       {errors.New("connection reset"), Retry},
		"budget":    {&CallError{err: ErrBudget}, Throttled},
		"elsewhere": {&CallError{err: ErrForeignHost}, Failed},
		"login":     {&CallError{err: &loginError{err: errors.New("x")}}, Unauthorized},
	} {
		if got, _ := Classify(http.MethodGet, tc.err); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

func TestClassifyAdditionsComeFirst(t *testing.T) {
	t.Parallel()
	err := &arm.Error{Status: 400, Code: "BadRequest"}
	got, _ := Classify(http.MethodPut, err, Rule{Statuses: []int{400}, Codes: []string{"badrequest"}, Outcome: WaitDependency})
	if got != WaitDependency {
		t.Errorf("got %s, want WaitDependency", got)
	}
}

func TestRulesEndWithACatchAll(t *testing.T) {
	t.Parallel()
	rules := Rules()
	last := rules[len(rules)-1]
	if !last.matches("ANY", &arm.Error{Status: 999}) || last.Outcome != Failed {
		t.Errorf("the last row is %+v", last)
	}
	for i, r := range rules[:len(rules)-1] {
		if r.matches("ANY", &arm.Error{Status: 999}) {
			t.Errorf("row %d hides the rest: %+v", i, r)
		}
		if r.Outcome == Gone && (len(r.Statuses) == 0 || len(r.Methods) == 0) {
			t.Errorf("row %d calls a resource gone by its code alone: %+v", i, r)
		}
	}
}

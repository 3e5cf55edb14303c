package armclient

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/armature-dev/armature/pkg/arm"
)

// Outcome is what a refusal means to whoever asked.
type Outcome string

// The outcomes.
const (
	// OK is the outcome of no error.
	OK Outcome = "OK"
	// Throttled: come back after the duration.
	Throttled Outcome = "Throttled"
	// Retry: nothing is known to be wrong; try again with back-off.
	Retry Outcome = "Retry"
	// Conflict: somebody else is at it or was faster; observe and plan again.
	Conflict Outcome = "Conflict"
	// Gone: the resource itself is not there.
	Gone Outcome = "Gone"
	// MissingParent: what the resource lies in is not there.
	MissingParent Outcome = "MissingParent"
	// WaitDependency: another resource is not ready, or still in the way.
	WaitDependency Outcome = "WaitDependency"
	// Unauthorized: the login failed or was not accepted.
	Unauthorized Outcome = "Unauthorized"
	// Forbidden: the principal lacks a permission, or a lock forbids it.
	Forbidden Outcome = "Forbidden"
	// NotRegistered: the provider is not registered in the subscription, and
	// could not be.
	NotRegistered Outcome = "NotRegistered"
	// Unsupported: the type does not take this method.
	Unsupported Outcome = "Unsupported"
	// Invalid: refused until the spec changes.
	Invalid Outcome = "Invalid"
	// Failed: an operation failed by itself, or nothing else fits.
	Failed Outcome = "Failed"
)

// Rule is one row of the table. What it leaves empty matches anything; Codes
// match the error's code or one of its details', without case.
type Rule struct {
	Methods  []string `json:"methods,omitempty"`
	Statuses []int    `json:"statuses,omitempty"`
	Codes    []string `json:"codes,omitempty"`
	// Cause is the header x-ms-failure-cause: "gateway" or "service".
	Cause   string  `json:"cause,omitempty"`
	Outcome Outcome `json:"outcome"`
}

// operation stands for the missing status of an operation that failed.
const operation = 0

// Rules is the table: the first row that matches decides. Codes are never
// enough to call a resource gone; see the 404 rows.
func Rules() []Rule {
	probe := []string{http.MethodGet, http.MethodHead}
	remove := []string{http.MethodDelete}
	write := []string{http.MethodPut, http.MethodPost}
	return []Rule{
		// Codes that say more than the status they come with.
		{Codes: []string{"MissingSubscriptionRegistration", "MissingRegistrationForResourceProvider", "SubscriptionNotRegistered", "Subscription Not Registered"}, Outcome: NotRegistered},
		{Statuses: []int{400, 409, 429, 500, operation}, Codes: []string{"RetryableError", "ReferencedResourceNotProvisioned"}, Outcome: WaitDependency},
		{Statuses: []int{400, 404, 409, operation}, Codes: []string{"ManagedEnvironmentNotProvisioned", "ManagedEnvironmentNotFound", "PrincipalNotFound", "InvalidResourceReference", "LinkedInvalidPropertyId", "FailedIdentityOperation", "StorageProvisioningStateNotSucceeded", "WorkspaceNotFound", "ParentResourceNotReady", "DependentResourceNotFound", "VirtualEndpointOwnerServerNotInReadyState"}, Outcome: WaitDependency},
		{Statuses: []int{400, 409, operation}, Codes: []string{"CannotDeleteResource", "InUse", "InUseSubnetCannotBeDeleted", "InUseNetworkSecurityGroupCannotBeDeleted", "InUseRouteTableCannotBeDeleted", "NicInUse", "PublicIPAddressCannotBeDeleted", "ResourceGroupBeingDeleted", "ResourceInUse", "NestedResourcesExist"}, Outcome: WaitDependency},
		{Statuses: []int{400, 409, 429, operation}, Codes: []string{"AnotherOperationInProgress", "OperationInProgress", "ServiceLocked", "ConflictingConcurrentWriteNotAllowed", "ConcurrentOperation", "OperationPreempted", "ServerIsBusy"}, Outcome: Conflict},
		{Statuses: []int{operation}, Codes: []string{"Conflict"}, Outcome: Conflict},
		{Statuses: []int{operation}, Codes: []string{"InternalServerError", "InternalError", "ServiceUnavailable"}, Outcome: Retry},

		{Statuses: []int{429}, Outcome: Throttled},
		{Statuses: []int{401}, Outcome: Unauthorized},
		{Statuses: []int{403}, Codes: []string{"RequestDisallowedByPolicy"}, Outcome: Invalid},
		{Codes: []string{"ScopeLocked", "AuthorizationFailed", "LinkedAuthorizationFailed", "ReadOnlyDisabledSubscription"}, Outcome: Forbidden},
		{Statuses: []int{403}, Outcome: Forbidden},

		// 404. With its parent ARM itself ("gateway") says that a resource is
		// gone; a service that says so may mean something of its own.
		{Statuses: []int{404}, Codes: []string{"InvalidResourceType", "InvalidResourceNamespace", "NoRegisteredProviderFound", "InvalidApiVersionParameter"}, Outcome: Invalid},
		{Methods: remove, Statuses: []int{404}, Codes: []string{"ResourceGroupNotFound", "ParentResourceNotFound"}, Cause: "gateway", Outcome: Gone},
		{Statuses: []int{404}, Codes: []string{"ResourceGroupNotFound", "ParentResourceNotFound", "SubscriptionNotFound", "InvalidSubscriptionId", "ManagementGroupNotFound"}, Outcome: MissingParent},
		{Statuses: []int{400}, Codes: []string{"ParentResourceNotFound", "ResourceGroupNotFound"}, Outcome: MissingParent},
		{Methods: probe, Statuses: []int{404, 410}, Outcome: Gone},
		{Methods: remove, Statuses: []int{404, 410}, Outcome: Gone},
		{Methods: []string{http.MethodPatch}, Statuses: []int{404, 410}, Outcome: Gone},
		{Methods: write, Statuses: []int{404}, Outcome: WaitDependency},

		{Statuses: []int{409}, Codes: []string{"ServiceAlreadyExistsInSoftDeletedState", "SkuNotAvailable", "QuotaExceeded", "PropertyChangeNotAllowed", "InvalidParameter"}, Outcome: Invalid},
		{Statuses: []int{409, 412, 423}, Outcome: Conflict},
		{Statuses: []int{405, 415, 501}, Outcome: Unsupported},
		{Statuses: []int{424}, Outcome: WaitDependency},
		{Statuses: []int{400, 413, 414, 422, 431}, Outcome: Invalid},
		{Statuses: []int{408, 500, 502, 503, 504}, Outcome: Retry},
		{Outcome: Failed},
	}
}

func (r Rule) matches(method string, e *arm.Error) bool {
	return (len(r.Methods) == 0 || slices.Contains(r.Methods, method)) &&
		(len(r.Statuses) == 0 || slices.Contains(r.Statuses, e.Status)) &&
		(len(r.Codes) == 0 || e.HasCode(r.Codes...)) &&
		(r.Cause == "" || strings.EqualFold(r.Cause, e.FailureCause))
}

// Classify says what err means after a request with method (after a poll: of
// the method that started the operation), and how long ARM asked to wait; 0
// where it asked nothing. A type's own rows go before the table's.
func Classify(method string, err error, additions ...Rule) (Outcome, time.Duration) {
	if err == nil {
		return OK, 0
	}
	var after time.Duration
	if call, ok := errors.AsType[*CallError](err); ok {
		after = call.RetryAfter
		if call.Registering {
			return Retry, after
		}
	}
	switch {
	case errors.Is(err, ErrBudget):
		return Throttled, after
	case errors.Is(err, ErrOperationGone):
		return Retry, after
	case errors.Is(err, ErrForeignHost):
		return Failed, after
	case isLogin(err):
		return Unauthorized, after
	}
	var e *arm.Error
	if !errors.As(err, &e) {
		// Nobody answered.
		return Retry, after
	}
	for _, rules := range [][]Rule{additions, Rules()} {
		for _, r := range rules {
			if r.matches(method, e) {
				return r.Outcome, after
			}
		}
	}
	return Failed, after
}

func isLogin(err error) bool {
	var failed *azidentity.AuthenticationFailedError
	var required *azidentity.AuthenticationRequiredError
	return errors.As(err, &failed) || errors.As(err, &required) || errors.Is(err, errLogin)
}

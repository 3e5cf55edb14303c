package arm

import "strings"

// Headers of ARM's contract.
const (
	HeaderAsyncOperation    = "Azure-AsyncOperation"
	HeaderOperationLocation = "Operation-Location"
	HeaderLocation          = "Location"
	HeaderRetryAfter        = "Retry-After"
	HeaderFailureCause      = "x-ms-failure-cause"
	HeaderRequestID         = "x-ms-request-id"
	HeaderCorrelationID     = "x-ms-correlation-request-id"
	HeaderClientRequestID   = "x-ms-client-request-id"
	HeaderRemainingReads    = "x-ms-ratelimit-remaining-subscription-global-reads"
	HeaderRemainingWrites   = "x-ms-ratelimit-remaining-subscription-global-writes"
	HeaderRemainingDeletes  = "x-ms-ratelimit-remaining-subscription-global-deletes"
)

// Terminal states of resources and operations.
const (
	Succeeded = "Succeeded"
	Failed    = "Failed"
	Canceled  = "Canceled"
)

// IsTerminal reports whether a provisioningState or an operation's status is
// final. No state counts as Succeeded; spelling and case are forgiven, and
// Completed, which some services say instead, counts too, as it does for
// azcore.
func IsTerminal(state string) bool {
	switch strings.ToLower(state) {
	case "", "succeeded", "completed", "failed", "canceled", "cancelled":
		return true
	}
	return false
}

// IsSucceeded reports whether a state is final and good.
func IsSucceeded(state string) bool {
	return state == "" || strings.EqualFold(state, Succeeded) || strings.EqualFold(state, "Completed")
}

// ProvisioningState reads properties.provisioningState of a body; "" where
// there is none.
func ProvisioningState(body map[string]any) string {
	p, _ := body["properties"].(map[string]any)
	for k, v := range p {
		if strings.EqualFold(k, "provisioningState") {
			s, _ := v.(string)
			return s
		}
	}
	return ""
}

// Limits on names and tags (contract, "Resource identifiers" and "Tags").
const (
	MaxGroupName = 90
	MaxName      = 260
	MaxTags      = 50
	MaxTagKey    = 512
	MaxTagValue  = 256
	// ForbiddenInNames can't occur in any name.
	ForbiddenInNames = `<>%&:\?/`
)

package controllers

import (
	"errors"
	"net/http"
	"time"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/armclient"
)

// halt ends a run before its last step: what the conditions say, and when to
// come back.
type halt struct {
	reason  string
	message string
	// stalled means that only a change of the spec, or of somebody else, helps.
	stalled bool
	// after is when to come back; 0 with backoff false waits for a watch and
	// the periodic refresh.
	after   time.Duration
	backoff bool
	// done means that the object is gone: no status is written.
	done bool
}

// Reasons that are not ARM's own.
const (
	reasonReady            = "Succeeded"
	reasonOwner            = "WaitingForOwner"
	reasonReference        = "WaitingForReference"
	reasonSecret           = "WaitingForSecret"
	reasonChildren         = "WaitingForChildren"
	reasonExists           = "AlreadyExists"
	reasonClaimed          = "AlreadyClaimed"
	reasonInvalid          = "InvalidSpec"
	reasonRefused          = "Refused"
	reasonScope            = "ScopeNotAllowed"
	reasonCredential       = "CredentialMissing" //nolint:gosec // a reason, no credential
	reasonNotEmpty         = "NotEmpty"
	reasonTooLarge         = "SpecTooLarge"
	reasonMissing          = "NotFound"
	reasonPaused           = "Paused"
	reasonObserving        = "Observing"
	reasonCreating         = "Creating"
	reasonUpdating         = "Updating"
	reasonDeleting         = "Deleting"
	reasonDrift            = "Drift"
	reasonKubernetes       = "KubernetesError"
	reasonProvisioningLost = "ProvisioningFailed"
)

func stall(reason, message string) *halt {
	return &halt{reason: reason, message: message, stalled: true}
}

func wait(reason, message string) *halt {
	return &halt{reason: reason, message: message, backoff: true}
}

func later(reason, message string, after time.Duration) *halt {
	return &halt{reason: reason, message: message, after: max(after, time.Second)}
}

// kubernetes turns an error of the API server into a repetition.
func kubernetes(err error) *halt { return wait(reasonKubernetes, err.Error()) }

// refusal turns ARM's answer into what happens next: one place for all verbs.
func refusal(method string, err error, rules ...armclient.Rule) *halt {
	outcome, after := armclient.Classify(method, err, rules...)
	h := &halt{reason: string(outcome), message: err.Error(), after: after, backoff: after == 0}
	if refused, ok := errors.AsType[*arm.Error](err); ok {
		h.message = refused.Error()
		if r := conditionReason(refused.Code); r != "" {
			h.reason = r
		}
	}
	if outcome == armclient.Invalid {
		h.stalled, h.backoff = true, method == http.MethodGet
	}
	return h
}

// conditionReason makes an ARM code fit for a condition; "" where it can't.
func conditionReason(code string) string {
	out := make([]rune, 0, len(code))
	for _, r := range code {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if letter || len(out) > 0 && r >= '0' && r <= '9' {
			out = append(out, r)
		}
	}
	return string(out)
}

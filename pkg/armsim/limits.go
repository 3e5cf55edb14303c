package armsim

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/armature-dev/armature/pkg/arm"
)

// limits are ARM's token buckets, by subscription and sort of operation.
type limits map[string]*bucket

type bucket struct {
	tokens float64
	at     time.Time
}

// allowance is how many requests a bucket holds and regains each second.
type allowance struct {
	header    string
	size      float64
	perSecond float64
	// plenty is what is said to remain where nothing is limited.
	plenty string
}

func allowanceOf(method string) allowance {
	switch method {
	case http.MethodGet, http.MethodHead:
		return allowance{header: arm.HeaderRemainingReads, size: 250, perSecond: 25, plenty: "16499"}
	case http.MethodDelete:
		return allowance{header: arm.HeaderRemainingDeletes, size: 200, perSecond: 10, plenty: "11999"}
	}
	return allowance{header: arm.HeaderRemainingWrites, size: 200, perSecond: 10, plenty: "11999"}
}

// take takes one token and returns the header that tells what remains; retry
// is how many seconds to wait where none is left. Requests outside of a
// subscription are free and have no header.
func (l limits) take(q *request, unlimited bool) (header, value string, retry int) {
	seg := split(q.path)
	if len(seg) < 2 || !strings.EqualFold(seg[0], "subscriptions") {
		return "", "", 0
	}
	a := allowanceOf(q.method)
	if unlimited {
		return a.header, a.plenty, 0
	}
	key := a.header + "/" + strings.ToLower(seg[1])
	b := l[key]
	if b == nil {
		b = &bucket{tokens: a.size, at: q.now}
		l[key] = b
	}
	b.tokens = min(a.size, b.tokens+max(0, q.now.Sub(b.at).Seconds())*a.perSecond)
	b.at = q.now
	if b.tokens < 1 {
		return a.header, "0", max(1, int(math.Ceil((1-b.tokens)/a.perSecond)))
	}
	b.tokens--
	return a.header, strconv.Itoa(int(b.tokens)), 0
}

func throttled(q *request, retry int) response {
	return fail(http.StatusTooManyRequests, "SubscriptionRequestsThrottled",
		"Number of requests for subscription '%s' exceeded. Please try again after '%d' seconds after additional tokens are available.", split(q.path)[1], retry).
		gateway().with(arm.HeaderRetryAfter, strconv.Itoa(retry))
}

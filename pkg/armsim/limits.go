package armsim

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/armature-dev/armature/pkg/arm"
)

// limits are ARM's token buckets, by subscription, principal and sort of
// operation.
type limits map[string]*bucket

type bucket struct {
	tokens float64
	at     time.Time
}

// Rate is how many requests a bucket holds and regains each second.
type Rate struct{ Size, PerSecond float64 }

// RateLimits are the buckets of one principal in one subscription. A zero
// Rate is ARM's: reads 250 and 25 a second, writes and deletes 200 and 10.
type RateLimits struct{ Reads, Writes, Deletes Rate }

type allowance struct {
	Rate

	header string
	// plenty is what is said to remain where nothing is limited.
	plenty string
}

func (r RateLimits) of(method string) allowance {
	a := allowance{Rate: r.Writes, header: arm.HeaderRemainingWrites, plenty: "11999"}
	usual := Rate{Size: 200, PerSecond: 10}
	switch method {
	case http.MethodGet, http.MethodHead:
		a, usual = allowance{Rate: r.Reads, header: arm.HeaderRemainingReads, plenty: "16499"}, Rate{Size: 250, PerSecond: 25}
	case http.MethodDelete:
		a.Rate, a.header = r.Deletes, arm.HeaderRemainingDeletes
	}
	if a.Rate == (Rate{}) {
		a.Rate = usual
	}
	a.Size, a.PerSecond = max(1, a.Size), max(0.01, a.PerSecond)
	return a
}

// take takes one token and returns the header that tells what remains; retry
// is how many seconds to wait where none is left. Requests outside of a
// subscription are free and have no header.
func (l limits) take(q *request, rates RateLimits, unlimited bool) (header, value string, retry int) {
	seg := split(q.path)
	if len(seg) < 2 || !strings.EqualFold(seg[0], "subscriptions") {
		return "", "", 0
	}
	a := rates.of(q.method)
	if unlimited {
		return a.header, a.plenty, 0
	}
	key := a.header + "/" + strings.ToLower(seg[1]) + "/" + q.principal
	b := l[key]
	if b == nil {
		b = &bucket{tokens: a.Size, at: q.now}
		l[key] = b
	}
	b.tokens = min(a.Size, b.tokens+max(0, q.now.Sub(b.at).Seconds())*a.PerSecond)
	b.at = q.now
	if b.tokens < 1 {
		return a.header, "0", max(1, int(math.Ceil((1-b.tokens)/a.PerSecond)))
	}
	b.tokens--
	return a.header, strconv.Itoa(int(b.tokens)), 0
}

func throttled(q *request, retry int) response {
	return fail(http.StatusTooManyRequests, "SubscriptionRequestsThrottled",
		"Number of requests for subscription '%s' exceeded. Please try again after '%d' seconds after additional tokens are available.", split(q.path)[1], retry).
		gateway().with(arm.HeaderRetryAfter, strconv.Itoa(retry))
}

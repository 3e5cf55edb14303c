package armclient

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/armature-dev/armature/pkg/arm"
)

// Kind is a kind of operation that ARM budgets by itself.
type Kind string

// The kinds of operation. POST counts as a write.
const (
	Reads   Kind = "reads"
	Writes  Kind = "writes"
	Deletes Kind = "deletes"
)

// KindOf is the kind that an HTTP method counts as.
func KindOf(method string) Kind {
	switch method {
	case http.MethodGet, http.MethodHead:
		return Reads
	case http.MethodDelete:
		return Deletes
	}
	return Writes
}

// Budget is a token bucket: a burst, and what flows in afterwards.
type Budget struct {
	Burst     int
	PerSecond float64
}

// DefaultBudgets are ARM's own, per subscription and principal. A kind that
// is missing is not limited.
func DefaultBudgets() map[Kind]Budget {
	return map[Kind]Budget{Reads: {250, 25}, Writes: {200, 10}, Deletes: {200, 10}}
}

// BudgetKey names one bucket. A throttled one leaves all others alone.
type BudgetKey struct {
	Principal    string
	Subscription string
	Kind         Kind
}

// Limiter keeps budgets. It never waits: who gets no token is told when to
// come back. It may be shared by clients, and is safe for concurrent use.
type Limiter struct {
	mu      sync.Mutex
	now     func() time.Time
	budgets map[Kind]Budget
	buckets map[BudgetKey]*bucket
}

type bucket struct {
	tokens *rate.Limiter
	budget Budget
	// until is when a 429 lets calls through again.
	until time.Time
	// queued is when the last caller that was sent away may come back.
	queued time.Time
	// inFlight counts calls that ARM's header may not know of yet.
	inFlight int
}

// NewLimiter makes a limiter with the given budgets.
func NewLimiter(budgets map[Kind]Budget) *Limiter {
	return &Limiter{now: time.Now, budgets: budgets, buckets: map[BudgetKey]*bucket{}} //nolint:forbidigo // the wire's clock is the machine's
}

const (
	// reserveShare of a bucket is kept from refreshes, so that the reads that
	// belong to writes and operations come first.
	reserveShare = 5
	// maxWait bounds what a bucket tells a caller to wait, whatever a header
	// says.
	maxWait = time.Hour
	// defaultBlock is how long a 429 without Retry-After blocks a bucket.
	defaultBlock = 10 * time.Second
)

// take takes a token. ok is false where there is none; the caller may try
// again after wait. Calls that take one must call done.
func (l *Limiter) take(key BudgetKey, background bool) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(key)
	now := l.now()
	if now.Before(b.until) {
		return b.until.Sub(now), false
	}
	if b.tokens == nil {
		b.inFlight++
		return 0, true
	}
	need := 1.0
	if background {
		need += float64(b.budget.Burst) / reserveShare
	}
	missing := need - b.tokens.TokensAt(now)
	if missing <= 0 {
		b.tokens.AllowN(now, 1)
		b.inFlight++
		return 0, true
	}
	return b.queue(now, missing), false
}

// queue spreads those who are sent away over the time in which tokens come
// in, so that they don't return all at once.
func (b *bucket) queue(now time.Time, missing float64) time.Duration {
	if b.budget.PerSecond <= 0 {
		return maxWait
	}
	one := time.Duration(float64(time.Second) / b.budget.PerSecond)
	first := now.Add(time.Duration(missing * float64(one)))
	b.queued = b.queued.Add(one)
	if b.queued.Before(first) {
		b.queued = first
	}
	return min(b.queued.Sub(now), maxWait)
}

// done feeds what the answer says of the budget back. A nil header stands for
// no answer. throttled is true for a 429 of the subscription's budget.
func (l *Limiter) done(key BudgetKey, header http.Header, throttled bool, retryAfter time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(key)
	b.inFlight = max(b.inFlight-1, 0)
	now := l.now()
	if throttled {
		if retryAfter <= 0 {
			retryAfter = defaultBlock
		}
		if until := now.Add(min(retryAfter, maxWait)); until.After(b.until) {
			b.until = until
		}
		return
	}
	if n, ok := remaining(header, key.Kind); ok && b.tokens != nil {
		b.settle(now, max(n-b.inFlight, 0))
	}
}

// settle makes n the bucket's level: ARM's word beats our arithmetic.
func (b *bucket) settle(now time.Time, n int) {
	burst := max(b.budget.Burst, n)
	b.tokens = rate.NewLimiter(rate.Limit(b.budget.PerSecond), burst)
	b.tokens.AllowN(now, burst-n)
	if n > b.budget.Burst/reserveShare {
		b.queued = time.Time{}
	}
}

func (l *Limiter) bucket(key BudgetKey) *bucket {
	b := l.buckets[key]
	if b == nil {
		b = &bucket{}
		if budget, ok := l.budgets[key.Kind]; ok {
			b.budget = budget
			b.tokens = rate.NewLimiter(rate.Limit(budget.PerSecond), budget.Burst)
		}
		l.buckets[key] = b
	}
	return b
}

func remaining(header http.Header, k Kind) (int, bool) {
	name := map[Kind]string{
		Reads: arm.HeaderRemainingReads, Writes: arm.HeaderRemainingWrites, Deletes: arm.HeaderRemainingDeletes,
	}[k]
	n, err := strconv.Atoi(header.Get(name))
	return n, err == nil && n >= 0 && n < math.MaxInt32
}

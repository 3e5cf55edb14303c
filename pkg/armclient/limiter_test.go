package armclient

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-dev/armature/pkg/arm"
)

// clock is a time that stands still until it is moved.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func testLimiter(budgets map[Kind]Budget) (*Limiter, *clock) {
	c := &clock{t: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	l := NewLimiter(budgets)
	l.now = c.now
	return l, c
}

// drain takes tokens until there is none, and says how many there were.
func drain(l *Limiter, key BudgetKey, background bool) (n int, wait time.Duration) {
	for n < 100000 {
		wait, ok := l.take(key, background)
		if !ok {
			return n, wait
		}
		l.done(key, nil, false, 0)
		n++
	}
	return n, 0
}

func TestLimiterMirrorsARM(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind       Kind
		background bool
		first      int
		afterTen   int
		wait       time.Duration
	}{
		"reads":                  {kind: Reads, first: 250, afterTen: 250, wait: time.Second / 25},
		"refreshes leave a part": {kind: Reads, background: true, first: 200, afterTen: 200, wait: time.Second / 25},
		"writes":                 {kind: Writes, first: 200, afterTen: 100, wait: time.Second / 10},
		"deletes":                {kind: Deletes, first: 200, afterTen: 100, wait: time.Second / 10},
		"no budget":              {kind: "other", first: 100000, afterTen: 100000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, c := testLimiter(DefaultBudgets())
			key := BudgetKey{Subscription: "s", Kind: tc.kind}
			n, wait := drain(l, key, tc.background)
			if n != tc.first || wait != tc.wait {
				t.Errorf("got %d and a wait of %s, want %d and %s", n, wait, tc.first, tc.wait)
			}
			c.t = c.t.Add(10 * time.Second)
			if n, _ := drain(l, key, tc.background); n != tc.afterTen {
				t.Errorf("got %d after ten seconds, want %d", n, tc.afterTen)
			}
		})
	}
}

func TestLimiterKeepsSubscriptionsApart(t *testing.T) {
	t.Parallel()
	l, c := testLimiter(DefaultBudgets())
	blocked := BudgetKey{Principal: "p", Subscription: "s1", Kind: Writes}
	if _, ok := l.take(blocked, false); !ok {
		t.Fatal("the first call got no token")
	}
	l.done(blocked, http.Header{}, true, 30*time.Second)
	if wait, ok := l.take(blocked, false); ok || wait != 30*time.Second {
		t.Errorf("got %v, %s, want a wait of 30s", ok, wait)
	}
	for _, free := range []BudgetKey{
		{Principal: "p", Subscription: "s2", Kind: Writes},
		{Principal: "p", Subscription: "s1", Kind: Reads},
		{Principal: "q", Subscription: "s1", Kind: Writes},
	} {
		if _, ok := l.take(free, false); !ok {
			t.Errorf("%v is throttled too", free)
		}
	}
	c.t = c.t.Add(30 * time.Second)
	if _, ok := l.take(blocked, false); !ok {
		t.Error("still blocked after Retry-After")
	}
}

func TestLimiterFollowsTheHeaders(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		remaining string
		inFlight  int
		want      int
	}{
		"less than we thought":      {remaining: "3", want: 3},
		"more than we thought":      {remaining: "16499", want: 16499},
		"nothing left":              {remaining: "0", want: 0},
		"calls still under way":     {remaining: "10", inFlight: 4, want: 6},
		"more under way than there": {remaining: "2", inFlight: 4, want: 0},
		"no number":                 {remaining: "many", want: 249},
		"nonsense":                  {remaining: "-5", want: 249},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := testLimiter(DefaultBudgets())
			key := BudgetKey{Subscription: "s", Kind: Reads}
			for range tc.inFlight + 1 {
				l.take(key, false)
			}
			l.done(key, http.Header{http.CanonicalHeaderKey(arm.HeaderRemainingReads): {tc.remaining}}, false, 0)
			if n, _ := drain(l, key, false); n != tc.want {
				t.Errorf("got %d, want %d", n, tc.want)
			}
		})
	}
}

func TestLimiterSpreadsThoseSentAway(t *testing.T) {
	t.Parallel()
	l, _ := testLimiter(map[Kind]Budget{Writes: {1, 10}})
	key := BudgetKey{Kind: Writes}
	drain(l, key, false)
	var got []time.Duration
	for range 3 {
		wait, _ := l.take(key, false)
		got = append(got, wait)
	}
	if d := cmp.Diff([]time.Duration{200 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond}, got); d != "" {
		t.Error(d)
	}
}

func TestClientHonoursBudgets(t *testing.T) {
	t.Parallel()
	retryable := `{"error":{"code":"RetryableError","message":"not yet"}}`
	for name, tc := range map[string]struct {
		answer  answer
		blocked bool
	}{
		"429 of the subscription":  {answer{429, map[string]string{"Retry-After": "30"}, `{"error":{"code":"429"}}`}, true},
		"429 without Retry-After":  {answer{429, nil, ``}, true},
		"429 of a dependency":      {answer{429, nil, retryable}, false},
		"429 of a provider":        {answer{429, map[string]string{arm.HeaderFailureCause: "service", "Retry-After": "5"}, `{"error":{"code":"TooManyRequests"}}`}, false},
		"the last of the budget":   {answer{200, map[string]string{arm.HeaderRemainingWrites: strconv.Itoa(0)}, `{}`}, true},
		"a budget that has plenty": {answer{200, map[string]string{arm.HeaderRemainingWrites: "11999"}, `{}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, tc.answer)
			l, _ := testLimiter(DefaultBudgets())
			c := s.client(t, Options{Limiter: l})
			put := Request{Method: http.MethodPut, Path: vmssPath}
			_, _ = c.Do(t.Context(), put)
			_, err := c.Do(t.Context(), put)
			sent := len(s.requests()) == 2
			o, after := Classify(http.MethodPut, err)
			if sent == tc.blocked || (tc.blocked && (o != Throttled || after <= 0)) {
				t.Errorf("got %s after %s, sent %v; want blocked %v", o, after, sent, tc.blocked)
			}
			put.Path = "/subscriptions/s2/resourceGroups/rg"
			before := len(s.requests())
			_, _ = c.Do(t.Context(), put)
			if len(s.requests()) == before {
				t.Error("another subscription is throttled too")
			}
		})
	}
}

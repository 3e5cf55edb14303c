package armclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/armature-dev/armature/pkg/arm"
)

const (
	registerVersion = "2021-04-01"
	// registerAgain is how long one registration is given before another.
	registerAgain = 5 * time.Minute
	// registerWait is when a caller may try the refused call again.
	registerWait = 10 * time.Second
)

// registrar registers providers in subscriptions: once, without waiting.
type registrar struct {
	client *Client

	mu    sync.Mutex
	asked map[string]time.Time
}

// on looks at the error of a call. Where it says that a provider is not
// registered, on asks for it and marks the error. All errors come back.
func (g *registrar) on(ctx context.Context, r Request, err error) error {
	var call *CallError
	var refusal *arm.Error
	if g == nil || !errors.As(err, &call) || !errors.As(err, &refusal) {
		return err
	}
	if o, _ := Classify(r.Method, refusal); o != NotRegistered {
		return err
	}
	id, idErr := arm.ParseID(r.Path)
	if idErr != nil || id.SubscriptionID == "" {
		return err
	}
	failed := g.once(ctx, id.SubscriptionID, namespaceOf(refusal, id))
	if failed != nil {
		call.err = fmt.Errorf("%w (registering it failed too: %w)", call.err, failed)
		return err
	}
	call.Registering, call.RetryAfter = true, max(call.RetryAfter, registerWait)
	return err
}

func (g *registrar) once(ctx context.Context, subscription, namespace string) error {
	path := "/subscriptions/" + subscription + "/providers/" + namespace + "/register"
	key := strings.ToLower(path)
	g.mu.Lock()
	asked, ok := g.asked[key]
	if ok && time.Since(asked) < registerAgain {
		g.mu.Unlock()
		return nil
	}
	if g.asked == nil {
		g.asked = map[string]time.Time{}
	}
	g.asked[key] = time.Now() //nolint:forbidigo // the wire's clock is the machine's
	g.mu.Unlock()

	req, err := g.client.request(ctx, Request{Method: http.MethodPost, Path: path, APIVersion: registerVersion})
	if err == nil {
		_, _, err = g.client.send(req)
	}
	if err != nil {
		g.mu.Lock()
		delete(g.asked, key)
		g.mu.Unlock()
	}
	return err
}

// namespaceOf is the provider that the refusal names, which can be another
// than the resource's (a linked resource's), else the resource's own.
func namespaceOf(e *arm.Error, id arm.ID) string {
	namespace := regexp.MustCompile(`^[A-Za-z0-9]+(\.[A-Za-z0-9]+)+$`)
	for _, d := range e.Details {
		if namespace.MatchString(d.Target) {
			return d.Target
		}
	}
	if namespace.MatchString(e.Target) {
		return e.Target
	}
	return id.Namespace
}

package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/hooks"
	"github.com/armature-dev/armature/pkg/armclient"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/plan"
)

// plan works out what to send, and reports drift, releases and refusals.
func (x *run) plan(context.Context) *halt {
	x.input = plan.Input{
		Body: x.kind.d.Body, Patch: x.kind.d.Patch,
		Desired: x.desired, Applied: x.journal.Applied, Pending: x.journal.Pending, Observed: x.observed,
		Settled: settledOf(x.status.Overridden), Policy: x.policy(),
	}
	rekey(x.input.Applied, x.desired, x.r.opts.Digests.ID)
	x.todo = plan.New(x.input)
	if v, ok := hooks.For[hooks.Validator](x.r.opts.Hooks, x.kind.d.Type); ok {
		x.todo.Refused = append(x.todo.Refused, v.Validate(x.hookView())...)
		if len(x.todo.Refused) > 0 {
			x.todo.Action = plan.Refuse
		}
	}
	if m, ok := hooks.For[hooks.PlanModifier](x.r.opts.Hooks, x.kind.d.Type); ok {
		x.todo = m.ModifyPlan(x.hookView(), x.todo)
	}
	x.reportDrift()
	x.reportReleased()
	if x.todo.Action == plan.Refuse {
		return x.refuse()
	}
	return nil
}

func (x *run) refuse() *halt {
	lines := make([]string, len(x.todo.Refused))
	for i, p := range x.todo.Refused {
		lines[i] = "spec." + p.Error()
	}
	reason := reasonInvalid
	if x.todo.Refused[0].Reason == plan.CreateOnlyChange {
		reason = reasonRefused
	}
	return stall(reason, strings.Join(lines, "; "))
}

func (x *run) hookView() hooks.Resource {
	return hooks.Resource{ID: x.id, Desired: x.desired, Observed: x.observed}
}

func (x *run) policy() plan.Policy {
	p := plan.Policy{NoPatch: x.r.demoted(x.kind.d.Type, plan.Patch), NoTags: x.r.demoted(x.kind.d.Type, plan.Tags)}
	if x.spec.Policy == nil {
		return p
	}
	p.ReportDrift = x.spec.Policy.Drift == metav1alpha1.DriftReport
	for _, s := range x.spec.Policy.Ignore {
		if path, err := field.ParsePath(s); err == nil {
			p.Ignore = append(p.Ignore, path)
		}
	}
	return p
}

// rekey takes digests made with another key for the present ones: what they
// stand for can't be compared any more, so it is recorded and not sent.
func rekey(applied, desired any, keyID string) {
	switch a := applied.(type) {
	case map[string]any:
		d, ok := desired.(map[string]any)
		if !ok {
			return
		}
		for k, v := range a {
			if h, ok := d[k].(field.Hidden); ok {
				if old, _ := v.(map[string]any)[field.DigestKey].(string); !strings.HasPrefix(old, keyID+":") {
					a[k] = map[string]any{field.DigestKey: h.Digest()}
				}
				continue
			}
			rekey(v, d[k], keyID)
		}
	case []any:
		d, ok := desired.([]any)
		for i := 0; ok && i < len(a) && i < len(d); i++ {
			rekey(a[i], d[i], keyID)
		}
	}
}

func settledOf(list []metav1alpha1.Overridden) []plan.Settled {
	out := make([]plan.Settled, 0, len(list))
	for _, o := range list {
		sent, err1 := field.Decode(o.Sent)
		settled, err2 := field.Decode(orNull(o.Settled))
		if err1 == nil && err2 == nil {
			out = append(out, plan.Settled{Path: o.Path, Sent: sent, Settled: settled})
		}
	}
	return out
}

func orNull(r json.RawMessage) []byte {
	if len(r) == 0 {
		return []byte("null")
	}
	return r
}

func (x *run) reportDrift() {
	known := map[string]metav1alpha1.Drift{}
	for _, d := range x.status.Drift {
		known[d.Path] = d
	}
	x.status.Drift = nil
	for _, d := range x.todo.Drift {
		now := metav1alpha1.Drift{Path: d.Path.String(), Wanted: raw(d.Wanted), Found: raw(d.Found), Since: metav1.NewTime(x.r.opts.Now())}
		if old, ok := known[now.Path]; ok && string(old.Found) == string(now.Found) && !old.Corrected {
			now.Since = old.Since
		} else {
			verb := "putting back"
			if d.Left {
				verb = "leaving"
			}
			x.event(corev1.EventTypeWarning, reasonDrift, "%s is %s, wanted %s: %s it", now.Path, now.Found, now.Wanted, verb)
		}
		now.Corrected = !d.Left
		x.status.Drift = append(x.status.Drift, now)
	}
}

// reportReleased keeps the names of fields that were ours and are left alone.
func (x *run) reportReleased() {
	names := map[string]bool{}
	var list []string
	add := func(p string) {
		path, err := field.ParsePath(p)
		if err != nil || names[p] {
			return
		}
		if _, wanted := field.Lookup(x.desired, path); wanted {
			return
		}
		names[p] = true
		list = append(list, p)
	}
	for _, p := range x.status.Released {
		add(p)
	}
	for _, p := range x.todo.Released {
		add(p.String())
	}
	x.status.Released = list
}

// act carries the plan out: the journal first, then one request.
func (x *run) act(ctx context.Context) *halt {
	if x.observeOnly() {
		return nil
	}
	wanted := digests(x.input.Desired)
	if x.todo.Action == plan.Nothing {
		if hash(wanted) != hash(x.journal.Applied) || x.journal.Pending != nil {
			return x.record(ctx, wanted)
		}
		return nil
	}
	if x.acted {
		return wait(reasonUpdating, "ARM answered a write otherwise than asked; planning again")
	}
	x.acted = true
	if !planted(faultLateJournal) {
		x.journal.Pending = wanted
		if h := x.writeJournal(ctx); h != nil {
			return h
		}
	}
	h := x.send(ctx)
	if planted(faultLateJournal) && h == nil {
		x.journal.Pending = wanted
		return x.writeJournal(ctx)
	}
	return h
}

// record makes the spec the confirmed state where ARM already holds it.
func (x *run) record(ctx context.Context, wanted map[string]any) *halt {
	x.journal.Pending = wanted
	if h := x.writeJournal(ctx); h != nil {
		return h
	}
	x.confirm()
	return nil
}

func (x *run) observeOnly() bool {
	return x.spec.Policy != nil && x.spec.Policy.Update == metav1alpha1.UpdateObserve
}

// request is the plan as requests; only tag plans can need two.
func (x *run) requests() []armclient.Request {
	base := armclient.Request{Path: x.id.String(), APIVersion: x.kind.d.APIVersion, Method: http.MethodPut}
	switch x.todo.Action {
	case plan.Create:
		base.Body = x.input.CreateBody()
	case plan.Put:
		base.Body = x.input.PutBody(x.todo)
		if planted(faultPutFromSpec) {
			base.Body = x.input.CreateBody()
		}
		base.IfMatch = x.etag
		if planted(faultNoIfMatch) {
			base.IfMatch = ""
		}
	case plan.Patch:
		base.Method, base.Body = http.MethodPatch, x.input.PatchBody(x.todo)
	case plan.Tags:
		return x.tagRequests()
	case plan.Nothing, plan.Refuse:
		return nil
	}
	base.Body = field.Reveal(base.Body)
	return []armclient.Request{base}
}

// tagsVersion is the API version of the tags resource.
const tagsVersion = "2021-04-01"

func (x *run) tagRequests() []armclient.Request {
	var all []armclient.Request
	for _, t := range plan.TagRequests(x.todo) {
		all = append(all, armclient.Request{
			Method: http.MethodPatch, Path: x.id.String() + "/providers/Microsoft.Resources/tags/default", APIVersion: tagsVersion,
			Body: map[string]any{"operation": t.Operation, "properties": map[string]any{"tags": t.Tags}},
		})
	}
	return all
}

// send makes the requests of the plan. An operation that goes on ends the run;
// a success lets it observe again.
func (x *run) send(ctx context.Context) *halt {
	for _, req := range x.requests() {
		resp, op, err := x.client.Begin(ctx, req)
		if err != nil {
			return x.refused(req, err)
		}
		x.event(corev1.EventTypeNormal, string(x.todo.Action), "%s", summary(x.todo))
		if op == nil && !resp.PollResource {
			continue
		}
		started := &metav1alpha1.OperationStatus{Method: req.Method, StartedAt: metav1.NewTime(x.r.opts.Now()), Generation: x.obj.Generation}
		if op != nil {
			if started.Token, err = op.Token(); err != nil {
				x.log.Error(err, "keeping no token; polling the resource")
			}
		}
		x.status.Operation = started
		return later(running(started.Method), progress(started), orPoll(resp.RetryAfter))
	}
	x.confirm()
	x.wrote = http.MethodPatch
	if x.todo.Action == plan.Put || x.todo.Action == plan.Create {
		x.wrote = http.MethodPut
	}
	return nil
}

// refused turns ARM's no into what happens next; a verb that the type does
// not take is not tried again.
func (x *run) refused(req armclient.Request, err error) *halt {
	outcome, _ := armclient.Classify(req.Method, err, x.rules()...)
	notTags := x.todo.Action == plan.Tags && outcome == armclient.Gone
	if (outcome == armclient.Unsupported || notTags) && req.Method == http.MethodPatch {
		x.r.demote(x.kind.d.Type, x.todo.Action)
		return later(reasonUpdating, fmt.Sprintf("%s is not taken here; planning without it", x.todo.Action), 0)
	}
	h := refusal(req.Method, err, x.rules()...)
	if outcome != armclient.Throttled && outcome != armclient.Conflict {
		x.event(corev1.EventTypeWarning, h.reason, "%s: %s", req.Method, h.message)
	}
	return h
}

func (x *run) rules() []armclient.Rule {
	if c, ok := hooks.For[hooks.Classifier](x.r.opts.Hooks, x.kind.d.Type); ok {
		return c.Rules()
	}
	return nil
}

// summary names the changes of a plan, without values of secrets.
func summary(p plan.Plan) string {
	if p.Action == plan.Create {
		return "creating the resource"
	}
	const most = 5
	var b strings.Builder
	for i, c := range p.Changes {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(p.Changes)-most)
			break
		}
		fmt.Fprintf(&b, "%s (%s) ", c.Path, c.Cause)
	}
	return strings.TrimSpace(b.String())
}

// below reads paths under the resource for hooks.
type below struct{ x *run }

// Get reads one.
func (b below) Get(ctx context.Context, suffix string) (map[string]any, error) {
	resp, err := b.x.client.Do(ctx, armclient.Request{Method: http.MethodGet, Path: b.x.id.String() + "/" + suffix, APIVersion: b.x.kind.d.APIVersion, Background: true})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", suffix, err)
	}
	return resp.Body, nil
}

// join lets the hook add to what is shown.
func (x *run) join(ctx context.Context) *halt {
	j, ok := hooks.For[hooks.Joiner](x.r.opts.Hooks, x.kind.d.Type)
	if !ok || x.observed == nil {
		return nil
	}
	more, err := j.Join(ctx, x.hookView(), below{x})
	if err != nil {
		x.log.Info("joining status", "cause", err.Error())
		return nil
	}
	shown := field.CloneObject(x.observed)
	maps.Copy(shown, more)
	x.observed = shown
	x.show()
	return nil
}

package armsim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/field"
)

// member answers an action (POST) or a view (GET) of a resource.
func (s *Server) member(q *request, id arm.ID, name string) response {
	d, resp := s.describe(q, id.Type())
	if d == nil {
		return resp
	}
	id = canonical(id, d)
	if resp, missing := s.missingScope(q, id, d); missing {
		return resp
	}
	r := s.store.get(id)
	switch q.method {
	case http.MethodGet:
		if v, ok := viewOf(d.Type, name); ok {
			if r == nil {
				return notFound(id, d)
			}
			return response{status: http.StatusOK, body: fill(v, s.store.full(r), q)}
		}
	case http.MethodPost:
		for i := range d.Actions {
			if strings.EqualFold(d.Actions[i].Name, name) {
				if r == nil {
					return notFound(id, d)
				}
				return s.action(q, r, i)
			}
		}
	}
	return fail(http.StatusNotFound, "InvalidResourceType", "The type '%s' has no %s of '%s'.", d.Type, q.method, name)
}

func (s *Server) action(q *request, r *record, i int) response {
	a := r.desc.Actions[i]
	if len(q.body) > 0 && a.Request != nil {
		sent, err := field.Decode(q.body)
		if err != nil {
			return fail(http.StatusBadRequest, "InvalidRequestContent", "The request content was invalid: expected JSON.")
		}
		if problems := field.Validate(a.Request, sent, field.Checks{Required: true, Unknown: true}); len(problems) > 0 {
			return invalid(problems)
		}
	}
	var result any
	if a.Response != nil {
		m := maker{key: s.key, seed: r.key, q: q}
		result = m.value(a.Response, "", 0)
	}
	if !a.LRO {
		if result == nil && slices.Contains(a.Codes, http.StatusNoContent) {
			return ok(http.StatusNoContent, nil)
		}
		return ok(http.StatusOK, result)
	}
	if op := s.store.busy(r.id, r.desc); op != nil {
		return s.conflict(q, op)
	}
	op := s.newOperation(q, r.id, r.desc)
	op.code, op.result = http.StatusOK, result
	if result == nil && slices.Contains(a.Codes, http.StatusNoContent) {
		op.code = http.StatusNoContent
	}
	s.store.begin(op)
	s.store.settle(q.now)
	return s.follow(q, ok(http.StatusAccepted, nil), op, a.FinalState != "", true)
}

// maker makes up values for the answers of actions: the same for the same
// resource and path.
type maker struct {
	key  []byte
	seed string
	q    *request
}

const maxMade = 8

func (m maker) value(f *field.Field, path string, depth int) any {
	if f == nil || f.Type == nil || depth > maxMade {
		return nil
	}
	switch f.Kind {
	case field.Object:
		out := map[string]any{}
		for n, c := range f.Fields {
			if v := m.value(c, path+"."+n, depth+1); v != nil {
				out[n] = v
			}
		}
		return out
	case field.List:
		items := []any{}
		for i := range 2 {
			if v := m.value(f.Elem, path+"."+strconv.Itoa(i), depth+1); v != nil {
				items = append(items, v)
			}
		}
		return items
	case field.Map:
		return map[string]any{}
	case field.Boolean:
		return false
	case field.Integer, field.Number:
		if f.Minimum != nil {
			return *f.Minimum
		}
		return 0
	case field.String:
		return m.text(f, path)
	case field.Any:
	}
	return nil
}

func (m maker) text(f *field.Field, path string) string {
	if len(f.Enum) > 0 {
		return fmt.Sprint(f.Enum[0])
	}
	parts := strings.Split(path, ".")
	last := parts[len(parts)-1]
	switch {
	case f.Format == "date-time":
		return stamp(m.q.now)
	case strings.HasSuffix(strings.ToLower(last), "name") && len(parts) > 3:
		// The item's place in its list names it: keys.0.keyName is key1.
		if i, err := strconv.Atoi(parts[len(parts)-2]); err == nil {
			return strings.TrimSuffix(parts[len(parts)-3], "s") + strconv.Itoa(i+1)
		}
	}
	h := hmac.New(sha256.New, m.key)
	h.Write([]byte(m.seed + path))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// views are sub-paths that show a resource in another way, by ARM type and
// name. "$path" stands for the value at a path in the stored body, "$state"
// for the provisioning state in lower case, "$now" for the time.
const views = `{
  "microsoft.compute/virtualmachinescalesets": {"instanceview": {
    "virtualMachine": {"statusesSummary": [{"code": "ProvisioningState/$state", "count": "$sku.capacity"}]},
    "statuses": [{"code": "ProvisioningState/$state", "level": "Info", "displayStatus": "Provisioning $state", "time": "$now"}]
  }}
}`

func viewOf(typ, name string) (any, bool) {
	var all map[string]map[string]any
	if json.Unmarshal([]byte(views), &all) != nil {
		return nil, false
	}
	v, ok := all[strings.ToLower(typ)][strings.ToLower(name)]
	return v, ok
}

// fill puts a resource's values into a view.
func fill(v any, body map[string]any, q *request) any {
	switch x := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			out[k] = fill(e, body, q)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = fill(x[i], body, q)
		}
		return out
	case string:
		if x == "$now" {
			return stamp(q.now)
		}
		if path, ok := strings.CutPrefix(x, "$"); ok {
			p, _ := field.ParsePath(path)
			if found, ok := field.Lookup(body, p); ok {
				return found
			}
			return 0
		}
		return strings.ReplaceAll(x, "$state", strings.ToLower(arm.ProvisioningState(body)))
	}
	return v
}

package armsim_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-dev/armature/config"
	"github.com/armature-dev/armature/pkg/armsim"
	"github.com/armature-dev/armature/pkg/resource"
)

// sim is a simulator under a clock of its own, spoken to without a network.
type sim struct {
	t     testing.TB
	h     http.Handler
	token string

	mu  sync.Mutex
	now time.Time
}

func newSim(tb testing.TB, opts armsim.Options) *sim {
	tb.Helper()
	catalog, err := config.Catalog()
	if err != nil {
		tb.Fatal(err)
	}
	return newSimOf(tb, catalog, opts)
}

func newSimOf(tb testing.TB, catalog *resource.Catalog, opts armsim.Options) *sim {
	tb.Helper()
	s := &sim{t: tb, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	opts.Clock = func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now }
	s.h = armsim.New(catalog, opts).Handler()
	s.login()
	return s
}

func (s *sim) login() { s.t.Helper(); s.loginAs("a") }

func (s *sim) loginAs(client string) {
	s.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client}, "client_secret": {"b"}}
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, "https://sim/t/oauth2/v2.0/token", strings.NewReader(form.Encode()))
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	var got struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Token == "" {
		s.t.Fatalf("logging in: %d %s", w.Code, w.Body)
	}
	s.token = got.Token
}

func (s *sim) advance(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.now = s.now.Add(d) }

type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   any
	text   string
}

// do sends a request; headers are "Name: value".
func (s *sim) do(method, target, body string, headers ...string) answer {
	s.t.Helper()
	if !strings.HasPrefix(target, "https://") {
		target = "https://sim" + target
	}
	r := httptest.NewRequestWithContext(s.t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+s.token)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	a := answer{t: s.t, status: w.Code, header: w.Header(), text: w.Body.String()}
	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &a.body); err != nil {
			s.t.Fatalf("%s %s: no JSON: %s", method, target, w.Body)
		}
	}
	return a
}

// at is the value at a dotted path, list items by index.
func (a answer) at(path string) any {
	v := a.body
	for p := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			i := int(p[0] - '0')
			if i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// compact is a value as JSON text.
func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (a answer) want(status int, pathsAndValues ...any) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Errorf("status %d, want %d: %s", a.status, status, a.text)
	}
	for i := 0; i < len(pathsAndValues); i += 2 {
		path, _ := pathsAndValues[i].(string)
		want := compact(pathsAndValues[i+1])
		if got := compact(a.at(path)); got != want {
			a.t.Errorf("%s is %s, want %s in %s", path, got, want, a.text)
		}
	}
	return a
}

const (
	gv = "?api-version=" + groupVersion
	nv = "?api-version=" + networkVersion
	vv = "?api-version=" + vmssVersion
	sv = "?api-version=" + storageVersion

	networkBody = `{"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`
	vmssBody    = `{"location":"westeurope","sku":{"name":"Standard_B1s","capacity":2},"properties":{"virtualMachineProfile":{"osProfile":{"adminUsername":"u","adminPassword":"hush"}}}}`
	accountBody = `{"location":"westeurope","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`
)

func (s *sim) group() { s.t.Helper(); s.do("PUT", group+gv, `{"location":"westeurope"}`).want(201) }

func TestEnvelope(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	s.group()
	s.do("PUT", group+gv, `{"location":"West Europe"}`).want(200, "properties.provisioningState", "Succeeded")
	a := s.do("PUT", network+nv, networkBody).want(201, "id", network, "name", "net",
		"type", "Microsoft.Network/virtualNetworks", "properties.subnets", []any{}, "properties.enableDdosProtection", false)
	if a.at("etag") == nil || a.at("etag") != a.header.Get("ETag") {
		t.Errorf("etag %v, header %q", a.at("etag"), a.header.Get("ETag"))
	}
	b := s.do("GET", strings.ToUpper(network)+nv, "").want(200, "id", network, "etag", a.at("etag"))
	s.do("PUT", network+nv, networkBody, "If-Match: "+b.header.Get("ETag")).want(200)
	s.do("PUT", network+nv, networkBody, "If-Match: "+b.header.Get("ETag")).want(412, "error.code", "PreconditionFailed")
	s.do("PUT", network+nv, networkBody, "If-None-Match: *").want(412)
	s.do("PUT", network+"2"+nv, networkBody, "If-Match: *").want(412)
	s.do("PATCH", network+"2"+nv, `{"tags":{}}`, "If-Match: *").want(404, "error.code", "ResourceNotFound")
	s.do("DELETE", network+"2"+nv, "", "If-Match: *").want(204)
	s.do("HEAD", group+gv, "").want(204)
	s.do("HEAD", group+"2"+gv, "").want(404)
	s.do("PATCH", network+nv, `{"tags":{"a":"1","b":"2"}}`).want(200)
	s.do("PATCH", network+nv, `{"tags":{"c":"3"}}`).want(200, "tags", map[string]any{"c": "3"})
	s.do("GET", "/subscriptions/s1/providers/Microsoft.Network/virtualNetworks"+nv, "").want(200, "value.0.name", "net", "value.1", nil)
	s.do("GET", group+"/resources"+gv, "").want(200, "value.0.id", network, "value.0.tags", map[string]any{"c": "3"})
	s.do("GET", "/subscriptions/s1/resourcegroups"+gv, "").want(200, "value.0.name", "rg")
}

func TestSecretsStay(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	s.group()
	s.do("PUT", vmss+vv, vmssBody).want(201, "properties.virtualMachineProfile.osProfile", map[string]any{"adminUsername": "u"})
	s.do("PUT", vmss+vv, strings.ReplaceAll(vmssBody, `,"adminPassword":"hush"`, "")).want(200)
	s.do("PATCH", vmss+vv, `{"sku":{"capacity":7}}`).want(200, "sku", map[string]any{"capacity": 7, "name": "Standard_B1s"})
	s.do("GET", "/_armature/resource?id="+vmss, "").want(200, "properties.virtualMachineProfile.osProfile.adminPassword", "hush")
	s.do("GET", vmss+"/instanceView"+vv, "").want(200, "virtualMachine.statusesSummary.0.count", 7, "statuses.0.code", "ProvisioningState/succeeded",
		"statuses.0.displayStatus", "Provisioning succeeded")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{Subscriptions: []string{"s1"}})
	s.do("PUT", network+nv, networkBody).want(404, "error.code", "ResourceGroupNotFound")
	s.group()
	s.do("PUT", account+sv, accountBody).want(202)
	s.do("PUT", network+nv, networkBody).want(201)
	for name, c := range map[string]struct {
		method, target, body string
		status               int
		code, target2        string
	}{
		"subscription":   {"GET", "/subscriptions/s2/resourceGroups/rg" + gv, "", 404, "SubscriptionNotFound", ""},
		"parent":         {"PUT", network + "x/subnets/a" + nv, "{}", 404, "ParentResourceNotFound", ""},
		"no version":     {"GET", network, "", 400, "MissingApiVersionParameter", ""},
		"wrong version":  {"GET", network + "?api-version=2001-01-01", "", 400, "NoRegisteredProviderFound", ""},
		"type":           {"GET", group + "/providers/Microsoft.Network/nope/x" + nv, "", 404, "InvalidResourceType", ""},
		"namespace":      {"GET", group + "/providers/Microsoft.Nope/nope/x" + nv, "", 404, "InvalidResourceNamespace", ""},
		"absent group":   {"DELETE", group + "2" + gv, "", 404, "ResourceGroupNotFound", ""},
		"no object":      {"PUT", network + nv, "[]", 400, "InvalidRequestContent", ""},
		"unknown field":  {"PUT", network + nv, `{"location":"westeurope","properties":{"adressSpace":{}}}`, 400, "InvalidRequestContent", "properties.adressSpace"},
		"wrong type":     {"PUT", network + nv, `{"location":"westeurope","properties":{"enableDdosProtection":"x"}}`, 400, "InvalidRequestContent", "properties.enableDdosProtection"},
		"required":       {"PUT", account + "2" + sv, `{"location":"westeurope","kind":"StorageV2"}`, 400, "InvalidRequestContent", "sku"},
		"location":       {"PUT", network + nv, `{"location":"eastus","properties":{}}`, 409, "InvalidResourceLocation", ""},
		"no location":    {"PUT", network + "3" + nv, `{"properties":{}}`, 400, "LocationRequired", ""},
		"create-only":    {"PUT", account + sv, `{"location":"westeurope","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"isHnsEnabled":true}}`, 400, "PropertyChangeNotAllowed", "properties.isHnsEnabled"},
		"name":           {"PUT", group + "/providers/Microsoft.Storage/storageAccounts/No-Good" + sv, accountBody, 400, "InvalidResourceName", ""},
		"nameless child": {"PUT", network + nv, `{"location":"westeurope","properties":{"subnets":[{"properties":{}}]}}`, 400, "InvalidRequestContent", "properties.subnets[0].name"},
		"child twice":    {"PUT", network + nv, `{"location":"westeurope","properties":{"subnets":[{"name":"a"},{"name":"A"}]}}`, 400, "InvalidRequestContent", "properties.subnets[1].name"},
		"no such method": {"PATCH", network + "/subnets/a" + nv, "{}", 405, "HttpMethodNotAllowed", ""},
		"escaped slash":  {"GET", group + "%2Fx" + gv, "", 400, "InvalidResourceId", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.do(c.method, c.target, c.body)
			a.t = t
			a.want(c.status, "error.code", c.code)
			if c.target2 != "" {
				a.want(c.status, "error.target", c.target2, "error.details.0.target", c.target2)
			}
		})
	}
	s.do("GET", network+nv, "", "Authorization: Bearer x.y.z").want(401, "error.code", "InvalidAuthenticationToken")
	s.advance(2 * time.Hour)
	s.do("GET", network+nv, "").want(401)
}

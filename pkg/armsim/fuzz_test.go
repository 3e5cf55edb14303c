package armsim_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/armature-dev/armature/config"
	"github.com/armature-dev/armature/pkg/armsim"
)

// FuzzRequests sends any path and body with any method: no answer is a 5xx
// and nothing panics.
func FuzzRequests(f *testing.F) {
	for _, p := range []string{
		network, vmss, account, group, network + "/subnets/a", vmss + "/instanceView", account + "/listKeys", "/", "//", "/subscriptions",
		"/subscriptions/s1", "/subscriptions/s1/providers/Microsoft.Network/register", group + "/providers/Microsoft.Resources/tags/default",
		"/subscriptions/s1/providers/Microsoft.Network/locations/x/operations/y", "/providers/x/y", "/_armature/resource", "/_armature/clock",
		"/_armature/faults", "/_armature/journal", "/_armature/resources", "/metadata/endpoints", "/tenants", "/subscriptions/s1/providers", "/subscriptions/s1/locations",
		"/subscriptions/s1/providers/Microsoft.Resources/tags/default", "/t/oauth2/v2.0/token", "/%2f/..", group + "/resources", "/subscriptions/s1/resources",
		"/subscriptions/s1/resourceGroups", "/providers/Microsoft.Network/virtualNetworks",
	} {
		for _, b := range []string{
			"", "{}", "null", "[]", networkBody, vmssBody, `{"properties":{"subnets":[{"name":"a/b"},null,{"name":".."}]},"location":"x"}`,
			`{"operation":"Merge","properties":{"tags":{"a":null}}}`, `[{"id":"` + network + `","properties":{"subnets":[1,{"name":"a"}]}},{"id":1}]`,
		} {
			f.Add(uint8(len(p)+len(b)), p, "api-version="+networkVersion+"&id="+network, b)
			f.Add(uint8(0), p, "api-version="+networkVersion+"&$top=1&$filter=name eq 'x' and tagName eq 'a'&$skipToken=MQ&$expand=changedTime&since=1", b)
			f.Add(uint8(2), p, "api-version="+networkVersion, b)
			f.Add(uint8(3), p, "api-version="+networkVersion, b)
		}
	}
	methods := []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "POST", "OPTIONS"}
	catalog, err := config.Catalog()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method uint8, path, query, body string) {
		s := newSimOf(t, catalog, armsim.Options{})
		s.group()
		s.do("PUT", network+nv, networkBody)
		for range 2 {
			r := httptest.NewRequestWithContext(t.Context(), methods[int(method)%len(methods)], "https://sim/", strings.NewReader(body))
			r.URL = &url.URL{Scheme: "https", Host: "sim", Path: path, RawQuery: query}
			r.Header.Set("Authorization", "Bearer "+s.token)
			if strings.Contains(strings.ToLower(path), "_armature/faults") {
				return
			}
			w := httptest.NewRecorder()
			s.h.ServeHTTP(w, r)
			if w.Code >= http.StatusInternalServerError {
				t.Errorf("%s %q: %d %s", r.Method, path, w.Code, w.Body)
			}
		}
		s.do("GET", network+nv, "")
		s.do("GET", group+"/resources"+gv, "")
	})
}

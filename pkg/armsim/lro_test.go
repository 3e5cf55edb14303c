package armsim_test

import (
	"testing"
	"time"

	"github.com/armature-dev/armature/pkg/armsim"
)

const state = "properties.provisioningState"

func TestOperations(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{OperationDuration: time.Minute, RetryAfter: 3 * time.Second})
	s.group()
	a := s.do("PUT", vmss+vv, vmssBody).want(201, state, "Creating")
	if a.header.Get("Retry-After") != "3" || a.header.Get("Location") != "" {
		t.Errorf("headers of the PUT: %v", a.header)
	}
	async := a.header.Get("Azure-AsyncOperation")
	s.advance(30 * time.Second)
	s.do("GET", async, "").want(200, "status", "InProgress", "percentComplete", 50)
	s.do("PATCH", vmss+vv, `{"tags":{"a":"b"}}`).want(409, "error.code", "AnotherOperationInProgress")
	s.do("DELETE", vmss+vv, "").want(409)
	s.advance(30 * time.Second)
	s.do("GET", async, "").want(200, "status", "Succeeded")
	s.do("GET", vmss+vv, "").want(200, state, "Succeeded")

	a = s.do("PATCH", vmss+vv, `{"sku":{"capacity":5}}`).want(200, state, "Updating", "sku.capacity", 5)
	s.do("GET", a.header.Get("Location"), "").want(202)
	s.do("POST", "/_armature/clock", `{"finish":true}`).want(204)
	s.do("GET", a.header.Get("Location"), "").want(200, "sku.capacity", 5)

	a = s.do("DELETE", vmss+vv, "").want(202)
	again := s.do("DELETE", vmss+vv, "").want(202)
	if a.header.Get("Location") == "" || a.header.Get("Location") != again.header.Get("Location") {
		t.Errorf("two DELETEs, two operations: %v, %v", a.header, again.header)
	}
	s.do("GET", vmss+vv, "").want(200, state, "Deleting")
	s.advance(time.Minute)
	s.do("GET", a.header.Get("Location"), "").want(200)
	s.do("GET", vmss+vv, "").want(404)
	s.do("DELETE", vmss+vv, "").want(204)
}

func TestStorageIsTheOldModel(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{OperationDuration: time.Minute})
	s.group()
	a := s.do("PUT", account+sv, accountBody).want(202)
	if a.text != "" || a.header.Get("Azure-AsyncOperation") != "" {
		t.Errorf("want an empty answer with a Location alone: %v %s", a.header, a.text)
	}
	s.do("GET", a.header.Get("Location"), "").want(202)
	s.advance(time.Minute)
	s.do("GET", a.header.Get("Location"), "").want(200, "name", "acct", state, "Succeeded")
	s.do("PUT", account+sv, accountBody).want(200)
	s.do("POST", account+"/listKeys"+sv, "").want(200, "keys.0.keyName", "key1", "keys.1.keyName", "key2")
	s.do("DELETE", account+sv, "").want(200)
}

func TestChildrenAreOneTruth(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{OperationDuration: time.Minute})
	s.group()
	put := func(subnets string, status int) {
		t.Helper()
		s.do("PUT", network+nv, `{"location":"westeurope","properties":{`+subnets+`"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`).want(status)
	}
	put(`"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.1.0/24"}},{"name":"b","properties":{"addressPrefix":"10.0.2.0/24"}}],`, 201)
	s.do("GET", network+"/subnets/a"+nv, "").want(200, state, "Updating", "properties.addressPrefix", "10.0.1.0/24")
	s.do("PUT", network+"/subnets/c"+nv, `{"properties":{"addressPrefix":"10.0.3.0/24"}}`).want(409)
	s.advance(time.Minute)
	s.do("GET", network+"/subnets"+nv, "").want(200, "value.0.name", "a", "value.1.properties.provisioningState", "Succeeded")
	before := s.do("GET", network+nv, "").at("etag")
	s.do("PUT", network+"/subnets/c"+nv, `{"properties":{"addressPrefix":"10.0.3.0/24"}}`).want(201, state, "Updating")
	put("", 409)
	s.advance(time.Minute)
	if after := s.do("GET", network+nv, "").want(200, "properties.subnets.2.name", "c").at("etag"); after == before {
		t.Error("a new subnet leaves the network's etag")
	}
	put("", 200)
	s.advance(time.Minute)
	s.do("GET", network+nv, "").want(200, "properties.subnets.2.name", "c", "properties.subnets.0.properties.provisioningState", "Succeeded")
	put(`"subnets":[{"name":"B"}],`, 200)
	s.do("GET", network+"/subnets/a"+nv, "").want(404)
	s.do("GET", network+"/subnets"+nv, "").want(200, "value.0.name", "b", "value.1", nil)
}

func TestGroupTakesAllWithIt(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{OperationDuration: time.Minute})
	s.group()
	s.do("PUT", network+nv, networkBody).want(201)
	a := s.do("DELETE", group+gv, "").want(202)
	if a.header.Get("Location") == "" || a.header.Get("Azure-AsyncOperation") != "" {
		t.Errorf("headers: %v", a.header)
	}
	s.do("PUT", account+sv, accountBody).want(409, "error.code", "ResourceGroupBeingDeleted")
	s.advance(time.Minute)
	s.do("GET", a.header.Get("Location"), "").want(200)
	s.do("DELETE", network+nv, "").want(404, "error.code", "ResourceGroupNotFound")
}

func TestTags(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	s.group()
	s.do("PUT", network+nv, networkBody).want(201)
	for _, scope := range []string{group, network} {
		tags := scope + "/providers/Microsoft.Resources/tags/default?api-version=2021-04-01"
		s.do("GET", tags, "").want(200, "properties.tags", map[string]any{})
		s.do("PUT", tags, `{"properties":{"tags":{"a":"1"}}}`).want(200)
		s.do("PATCH", tags, `{"operation":"Merge","properties":{"tags":{"b":"2"}}}`).want(200, "properties.tags", map[string]any{"a": "1", "b": "2"})
		s.do("PATCH", tags, `{"operation":"Delete","properties":{"tags":{"a":"1"}}}`).want(200, "properties.tags", map[string]any{"b": "2"})
		s.do("PATCH", tags, `{"operation":"Replace","properties":{"tags":{"c":"3"}}}`).want(200, "properties.tags", map[string]any{"c": "3"})
		s.do("PATCH", tags, `{"operation":"Nope","properties":{"tags":{"c":"3"}}}`).want(400)
	}
	s.do("GET", group+gv, "").want(200, "tags", map[string]any{"c": "3"})
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	s.group()
	s.do("PUT", vmss+vv, vmssBody).want(201)
	before := s.do("GET", vmss+vv, "").at("etag")
	a := s.do("PUT", "/_armature/resource?id="+vmss, `{"sku":{"capacity":9}}`).want(200, "sku.capacity", 9, "sku.name", "Standard_B1s", state, "Succeeded")
	if a.at("etag") == before {
		t.Error("the etag stays")
	}
	s.do("PUT", "/_armature/resource?id="+network+"/subnets/x", `{}`).want(404)
	s.do("PUT", "/_armature/resource?id="+network, `{"location":"westeurope"}`).want(201, state, "Succeeded")
	s.do("PUT", "/_armature/resource?id="+network+"/subnets/x", `{"properties":{"addressPrefix":"10.0.0.0/24"}}`).want(201)
	s.do("GET", network+nv, "").want(200, "properties.subnets.0.name", "x")
	s.do("DELETE", "/_armature/resource?id="+network, "").want(204)
	s.do("PATCH", vmss+vv, `{"sku":{"capacity":5}}`, "If-Match: *").want(200)
	s.do("GET", "/_armature/journal?method=PATCH,POST&id="+vmss, "").want(200, "0.status", 200, "0.body", map[string]any{"sku": map[string]any{"capacity": 5}},
		"0.headers.If-Match", "*", "0.response.sku.capacity", 5, "1", nil)
	s.do("DELETE", "/_armature/journal", "").want(204)
	s.do("GET", "/_armature/journal", "").want(200, "0", nil)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	s.group()
	s.do("POST", "/_armature/faults", `{"type":"Microsoft.Compute/virtualMachineScaleSets","method":"PUT","status":503,"count":1}`).want(200)
	s.do("PUT", vmss+vv, vmssBody).want(503, "error.code", "ServiceUnavailable")
	s.do("POST", "/_armature/faults", `{"method":"PUT","failOperation":true,"code":"OutOfQuota"}`).want(200)
	a := s.do("PUT", vmss+vv, vmssBody).want(201, state, "Creating")
	s.do("GET", a.header.Get("Azure-AsyncOperation"), "").want(200, "status", "Failed", "error.code", "OutOfQuota")
	s.do("GET", vmss+vv, "").want(200, state, "Failed")
	s.do("PUT", vmss+vv, vmssBody).want(200, state, "Succeeded")
	s.do("POST", "/_armature/faults", `{"method":"PUT","loseAnswer":true}`).want(200)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the answer was not lost")
			}
		}()
		s.do("PUT", network+nv, networkBody)
	}()
	s.do("GET", network+nv, "").want(200)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	s.group()
	for range 250 {
		s.do("GET", group+gv, "").want(200)
	}
	a := s.do("GET", group+gv, "").want(429)
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
	s.advance(time.Second)
	if a := s.do("GET", group+gv, "").want(200); a.header.Get("x-ms-ratelimit-remaining-subscription-global-reads") != "24" {
		t.Errorf("headers: %v", a.header)
	}
}

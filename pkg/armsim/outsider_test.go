package armsim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-dev/armature/config"
	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/armsim"
)

func TestSomebodyElse(t *testing.T) {
	t.Parallel()
	catalog, err := config.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	s := armsim.New(catalog, armsim.Options{Clock: func() time.Time { return time.Unix(0, 0) }})
	for _, c := range []struct {
		id   string
		body map[string]any
		code string
	}{
		{network, map[string]any{}, "ResourceGroupNotFound"},
		{group, map[string]any{"location": "westeurope"}, ""},
		{network + "/subnets/a", map[string]any{}, "ParentResourceNotFound"},
		{network, map[string]any{"location": "westeurope", "properties": map[string]any{"subnets": []any{map[string]any{"name": "a"}}}}, ""},
		{network, map[string]any{"tags": map[string]any{"policy": "yes"}}, ""},
		{group + "/providers/Microsoft.Nope/x/y", nil, "InvalidResourceType"},
		{"nope", nil, "InvalidResourceId"},
	} {
		err := s.Put(c.id, c.body)
		var e *arm.Error
		if (err == nil) != (c.code == "") || errors.As(err, &e) && e.Code != c.code {
			t.Errorf("Put %s: got %v, want %q", c.id, err, c.code)
		}
	}
	got, ok := s.Get(network)
	if !ok || got["tags"].(map[string]any)["policy"] != "yes" || got["location"] != "westeurope" {
		t.Errorf("got %v", got)
	}
	if _, ok := s.Get(network + "/subnets/a"); !ok {
		t.Error("the subnet in the network is none")
	}
	if err := s.Delete(network + "/subnets/a"); err != nil {
		t.Error(err)
	}
	if after, _ := s.Get(network); after["etag"] == got["etag"] {
		t.Error("a subnet less leaves the network's etag")
	}
	if err := s.Delete(group); err != nil {
		t.Error(err)
	}
	var e *arm.Error
	if err := s.Delete(network); !errors.As(err, &e) || e.Status != 404 {
		t.Errorf("got %v", err)
	}
	if _, ok := s.Get(network); ok || len(s.Journal()) != 0 {
		t.Errorf("the network is still there, or the journal holds %v", s.Journal())
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	s.group()
	s.do("PUT", network+nv, networkBody).want(201)
	s.do("PUT", network+"/subnets/a"+nv, `{"properties":{"addressPrefix":"10.0.1.0/24"}}`).want(201)
	s.do("PUT", vmss+vv, vmssBody).want(201)
	snapshot := s.do("GET", "/_armature/resources", "").want(200, "0.name", "rg", "4", nil)
	s.do("DELETE", "/_armature/resources", "").want(204)
	s.do("GET", group+gv, "").want(404)
	s.do("POST", "/_armature/resources", snapshot.text).want(200, "count", 4)
	s.do("GET", network+"/subnets/a"+nv, "").want(200, "properties.addressPrefix", "10.0.1.0/24", state, "Succeeded")
	s.do("GET", "/_armature/resource?id="+vmss, "").want(200, "properties.virtualMachineProfile.osProfile.adminPassword", "hush")
	s.do("POST", "/_armature/resources", `{"id":"`+network+`","tags":{"x":"y"}}`).want(200, "count", 1)
	s.do("GET", network+nv, "").want(200, "tags.x", "y")
	s.do("POST", "/_armature/resources", `[{"id":"/subscriptions/s1/resourceGroups/nope/providers/Microsoft.Network/virtualNetworks/x"}]`).want(404)
	s.do("POST", "/_armature/resources", `[1]`).want(400)
	s.do("PUT", "/_armature/resources", `[]`).want(405)
}

func TestJournalFilters(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	s.group()
	s.do("PUT", network+nv, networkBody).want(201)
	s.do("PUT", network+"/subnets/a"+nv, `{}`).want(201)
	s.do("PUT", account+sv, accountBody).want(202)
	s.do("POST", account+"/listKeys"+sv, "").want(200)
	s.do("GET", account+"/providers/Microsoft.Resources/tags/default?api-version=2021-04-01", "").want(200)
	s.do("GET", "/_armature/journal?type=microsoft.storage/STORAGEACCOUNTS", "").want(200,
		"0.method", "PUT", "1.path", account+"/listKeys", "2.method", "GET", "3", nil)
	s.do("GET", "/_armature/journal?since=4&method=post,get", "").want(200, "0.seq", 5, "1.seq", 6, "2", nil)
	s.do("GET", "/_armature/journal?since=5", "").want(200, "0.seq", 6, "1", nil)
	s.do("GET", "/_armature/journal?since=x", "").want(400)
	s.do("GET", "/_armature/journal?prefix="+network, "").want(200, "1.path", network+"/subnets/a", "2", nil)
}

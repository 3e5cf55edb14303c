package armsim_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/armature-dev/armature/pkg/armsim"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

// thing is a small tracked type whose PUT declares the given codes.
func thing(typ string, put resource.Verb) *resource.Descriptor {
	text := func() *field.Field { return &field.Field{Type: &field.Type{Kind: field.String}} }
	location := text()
	location.Behaviours = field.CreateOnly
	state := text()
	state.Behaviours = field.ReadOnly
	object := func(fields map[string]*field.Field) *field.Field {
		return &field.Field{Type: &field.Type{Kind: field.Object, Fields: fields}}
	}
	system := object(map[string]*field.Field{"createdAt": text(), "createdBy": text()})
	system.Behaviours = field.ReadOnly
	return &resource.Descriptor{
		Group: "test.armature.dev", Kind: "Thing", Plural: "things", Type: typ, APIVersion: "1",
		Scopes: []resource.Scope{{Kind: resource.ResourceGroup}},
		Verbs: map[string]resource.Verb{
			"GET": {Codes: []int{200}}, "PUT": put, "LIST": {Codes: []int{200}},
			"DELETE": {Codes: []int{200, 204}},
		},
		Body: object(map[string]*field.Field{
			"location": location, "tags": {Type: &field.Type{Kind: field.Map, Elem: text()}}, "systemData": system,
			"properties": object(map[string]*field.Field{"size": {Type: &field.Type{Kind: field.Integer}}, "provisioningState": state}),
		}),
	}
}

func TestPutAnswersWhatIsDeclared(t *testing.T) {
	t.Parallel()
	const plain = "Microsoft.Test/things"
	for name, c := range map[string]struct {
		typ            string
		put            resource.Verb
		create, update int
		headers        string
	}{
		"nothing said":             {plain, resource.Verb{}, 201, 200, ""},
		"200 alone":                {plain, resource.Verb{Codes: []int{200}}, 200, 200, ""},
		"201 alone":                {plain, resource.Verb{Codes: []int{201}, LRO: true}, 201, 201, "async"},
		"both":                     {plain, resource.Verb{Codes: []int{200, 201}, LRO: true}, 201, 200, "async"},
		"202 for 201":              {plain, resource.Verb{Codes: []int{200, 202}, LRO: true}, 202, 202, "async location"},
		"all three":                {plain, resource.Verb{Codes: []int{200, 201, 202}, LRO: true}, 201, 200, "async"},
		"202, no operation":        {plain, resource.Verb{Codes: []int{200, 202}}, 200, 200, ""},
		"a service that says 202":  {"Microsoft.Sql/servers", resource.Verb{Codes: []int{200, 201, 202}, LRO: true}, 202, 202, "async location"},
		"the profile of a parent":  {"Microsoft.Sql/servers", resource.Verb{Codes: []int{200, 201, 202}, LRO: true}, 202, 202, "async location"},
		"no Azure-AsyncOperation":  {"Microsoft.Storage/storageAccounts", resource.Verb{Codes: []int{200, 202}, LRO: true}, 202, 200, "location"},
		"not as long as it claims": {"Microsoft.Web/sites", resource.Verb{Codes: []int{200, 202}, LRO: true}, 200, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			catalog, err := resource.NewCatalog(thing(c.typ, c.put))
			if err != nil {
				t.Fatal(err)
			}
			s := newSimOf(t, catalog, armsim.Options{OperationDuration: time.Minute})
			id := group + "/providers/" + c.typ + "/x?api-version=1"
			a := s.do("PUT", id, `{"location":"westeurope"}`).want(c.create)
			got := ""
			if a.header.Get("Azure-AsyncOperation") != "" {
				got = "async"
			}
			if a.header.Get("Location") != "" {
				got = map[string]string{"": "location", "async": "async location"}[got]
			}
			if got != c.headers {
				t.Errorf("headers %q, want %q", got, c.headers)
			}
			s.do("POST", "/_armature/clock", `{"finish":true}`).want(204)
			s.do("GET", id, "").want(200, state, "Succeeded", "systemData.createdBy", "a")
			s.do("PUT", id, `{"location":"westeurope"}`).want(c.update)
		})
	}
}

func TestLastSpelling(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	s.group()
	s.do("PUT", network+nv, networkBody).want(201)
	s.do("PATCH", group+"/providers/microsoft.network/VIRTUALNETWORKS/NET"+nv, `{"tags":{"a":"b"}}`).want(200, "name", "net")
	s.do("PUT", group+"/providers/microsoft.network/VIRTUALNETWORKS/NET"+nv, networkBody).want(200,
		"name", "NET", "id", group+"/providers/Microsoft.Network/virtualNetworks/NET")
	s.do("GET", network+nv, "").want(200, "name", "NET")
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{PageSize: 3, EmptyPages: true})
	s.group()
	for i := range 7 {
		s.do("PUT", fmt.Sprintf("%s%d%s", network, i, nv), `{"location":"westeurope","tags":{"n":"`+fmt.Sprint(i%2)+`"},"properties":{}}`).want(201)
	}
	s.do("PUT", account+sv, accountBody).want(202)
	// names follows nextLinks; between two pages a resource goes and another
	// comes.
	names := func(target string, between func()) []string {
		var all []string
		for pages := 0; target != ""; pages++ {
			a := s.do("GET", target, "").want(200)
			items, _ := a.at("value").([]any)
			for _, i := range items {
				m, _ := i.(map[string]any)
				all = append(all, fmt.Sprint(m["name"]))
			}
			if pages == 0 && len(items) != 0 {
				t.Error("the first page is not empty")
			}
			if pages == 1 {
				between()
			}
			target, _ = a.at("nextLink").(string)
		}
		return all
	}
	list := group + "/providers/Microsoft.Network/virtualNetworks" + nv
	resources := group + "/resources" + gv
	for name, c := range map[string]struct{ target, want string }{
		"type in a group":   {list, "[net0 net1 net2 net3 net4 net5 net6]"},
		"with $top":         {list + "&%24top=2", "[net0 net1 net2 net3 net4 net5 net6]"},
		"by type":           {resources + "&$filter=resourceType+eq+'Microsoft.Storage/storageAccounts'", "[acct]"},
		"by tag":            {resources + "&$filter=tagName+eq+'N'+and+tagValue+eq+'1'", "[net1 net3 net5]"},
		"in a subscription": {"/subscriptions/s1/resources" + gv + "&$filter=location+eq+'WestEurope'+and+name+eq+'net2'", "[net2]"},
	} {
		if got := fmt.Sprint(names(c.target, func() {})); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	while := names(list, func() {
		s.do("DELETE", network+"0"+nv, "").want(202)
		s.do("DELETE", network+"3"+nv, "").want(202)
		s.do("PUT", network+"7"+nv, networkBody).want(201)
	})
	if got := fmt.Sprint(while); got != "[net0 net1 net2 net4 net5 net6 net7]" {
		t.Errorf("while others write: got %s", got)
	}
	s.do("GET", list+"&$top=x", "").want(400)
	s.do("GET", list+"&$skipToken=!", "").want(400)
	s.do("GET", resources+"&$filter=nope+eq+'x'", "").want(400, "error.code", "InvalidFilterInQueryString")
	s.do("GET", "/subscriptions/s1/locations"+gv, "").want(200, "value.0.name", "eastus")
	s.do("GET", "/tenants"+gv, "").want(200, "value.0.tenantCategory", "Home")
	s.do("GET", "/subscriptions/s1/providers"+gv, "").want(200, "value.0.namespace", "Microsoft.Compute")
	s.do("GET", "/metadata/endpoints?api-version=2022-09-01", "").want(200, "resourceManager", "https://sim/")
	s.do("GET", "/metadata/endpoints?api-version=2020-06-01", "").want(200, "0.resourceManager", "https://sim/")
}

func TestExpand(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	s.group()
	s.do("PUT", network+nv, networkBody).want(201)
	s.advance(30 * time.Minute)
	s.do("PATCH", network+nv, `{"tags":{"a":"b"}}`).want(200)
	s.do("GET", "/subscriptions/s1/resources"+gv+"&$expand=createdTime,changedTime,provisioningState", "").want(200,
		"value.0.createdTime", "2026-01-02T03:04:05.0000000Z", "value.0.changedTime", "2026-01-02T03:34:05.0000000Z",
		"value.0.provisioningState", "Succeeded")
	s.do("GET", group+"/resources"+gv, "").want(200, "value.0.createdTime", nil)
}

func TestSubscriptionTags(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{})
	tags := "/subscriptions/s1/providers/Microsoft.Resources/tags/default?api-version=2021-04-01"
	s.do("PATCH", tags, `{"operation":"Merge","properties":{"tags":{"a":"1","b":null}}}`).want(200, "properties.tags", map[string]any{"a": "1"})
	s.do("GET", "/subscriptions/S1/providers/Microsoft.Resources/tags/default?api-version=2021-04-01", "").want(200, "properties.tags.a", "1")
	s.do("DELETE", tags, "").want(200)
	s.do("GET", tags, "").want(200, "properties.tags", map[string]any{})
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{Unregistered: []string{"microsoft.network"}})
	s.group()
	provider := "/subscriptions/s1/providers/Microsoft.Network"
	s.do("GET", provider+gv, "").want(200, "registrationState", "NotRegistered")
	s.do("PUT", network+nv, networkBody).want(409, "error.code", "MissingSubscriptionRegistration", "error.details.0.target", "Microsoft.Network")
	s.do("POST", provider+"/register"+gv, "").want(200, "registrationState", "Registered")
	s.do("PUT", network+nv, networkBody).want(201)
	s.do("POST", provider+"/unregister"+gv, "").want(200, "registrationState", "NotRegistered")
	s.do("POST", "/subscriptions/s1/providers/Microsoft.Nope/register"+gv, "").want(404)
	s.do("POST", provider+"/nope"+gv, "").want(405)
}

func TestPolls(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{OperationPolls: 2})
	s.group()
	a := s.do("PUT", vmss+vv, vmssBody).want(201, state, "Creating")
	s.advance(24 * time.Hour)
	s.login()
	s.do("GET", a.header.Get("Azure-AsyncOperation"), "").want(200, "status", "InProgress")
	s.do("GET", a.header.Get("Azure-AsyncOperation"), "").want(200, "status", "Succeeded", "percentComplete", 100)
	s.do("DELETE", vmss+vv, "").want(202)
	s.do("GET", vmss+vv, "").want(200, state, "Deleting")
	s.do("GET", vmss+vv, "").want(404)
}

func TestRatesAreAPrincipals(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{RateLimits: armsim.RateLimits{Writes: armsim.Rate{Size: 1, PerSecond: 0.5}}})
	s.group()
	s.do("PUT", network+nv, networkBody).want(429)
	s.do("GET", group+gv, "").want(200)
	s.loginAs("somebody")
	s.do("PUT", network+nv, networkBody).want(201)
	a := s.do("PUT", network+nv, networkBody).want(429, "error.code", "SubscriptionRequestsThrottled")
	if got := a.header.Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q", got)
	}
}

func TestChance(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{NoRateLimits: true})
	s.group()
	s.do("POST", "/_armature/faults", `{"method":"GET","status":500,"probability":0.5}`).want(200)
	seen := map[int]int{}
	for range 200 {
		seen[s.do("GET", group+gv, "").status]++
	}
	if seen[http.StatusOK] < 50 || seen[http.StatusInternalServerError] < 50 {
		t.Errorf("half of the answers were to fail: %v", seen)
	}
	s.do("DELETE", "/_armature/faults", "").want(204)
	s.do("POST", "/_armature/faults", `{"probability":2}`).want(400)
	s.do("POST", "/_armature/faults", `{"method":"PUT","cancelOperation":true}`).want(200)
	a := s.do("PUT", vmss+vv, vmssBody).want(201, state, "Creating")
	s.do("GET", a.header.Get("Azure-AsyncOperation"), "").want(200, "status", "Canceled", "error.code", "OperationCanceled")
}

func TestReferences(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{OperationDuration: time.Minute, CheckReferences: true})
	s.group()
	subnet := network + "/subnets/a"
	body := `{"location":"westeurope","sku":{"name":"Standard_B1s","capacity":1},"properties":{"virtualMachineProfile":{"networkProfile":{"networkInterfaceConfigurations":[
		{"name":"n","properties":{"ipConfigurations":[{"name":"i","properties":{"subnet":{"id":"` + subnet + `"}}}]}}]}}}}`
	s.do("PUT", vmss+vv, body).want(404, "error.code", "NotFound")
	s.do("PUT", network+nv, `{"location":"westeurope","properties":{"subnets":[{"name":"a"}]}}`).want(201)
	s.do("PUT", vmss+vv, body).want(400, "error.code", "ReferencedResourceNotProvisioned")
	peering := `{"location":"westeurope","properties":{"subnets":[{"name":"b","properties":{"natGateway":{"id":"` + network + `"}}}]}}`
	s.do("PUT", network+"2"+nv, peering).want(429, "error.code", "RetryableError", "error.details.0.code", "ReferencedResourceNotProvisioned")
	s.advance(time.Minute)
	s.do("PUT", vmss+vv, body).want(201)
	s.do("PATCH", network+nv, `{"tags":{"a":"b"}}`).want(200)
	s.do("PUT", network+"3"+nv, `{"location":"westeurope","properties":{"ddosProtectionPlan":{"id":"`+network+`9"}}}`).want(400,
		"error.code", "InvalidResourceReference", "error.target", "properties.ddosProtectionPlan.id")
}

func TestOldOperationsAreForgotten(t *testing.T) {
	t.Parallel()
	s := newSim(t, armsim.Options{NoRateLimits: true})
	s.group()
	first := s.do("PUT", network+nv, networkBody).want(201).header.Get("Azure-AsyncOperation")
	s.do("GET", first, "").want(200)
	s.advance(2 * time.Hour)
	s.login()
	for range 1001 {
		s.do("PUT", network+nv, networkBody).want(200)
	}
	s.do("GET", first, "").want(404)
}

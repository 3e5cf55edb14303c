package arm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	sub   = "/subscriptions/s1"
	group = sub + "/resourceGroups/rg"
	vnet  = group + "/providers/Microsoft.Network/virtualNetworks/net"
	mgmt  = "/providers/Microsoft.Management/managementGroups/mg"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	type facts struct {
		Type, Name, Parent, Scope, Subscription, Group, ManagementGroup string
	}
	for id, want := range map[string]facts{
		sub:                 {"Microsoft.Resources/subscriptions", "s1", "", sub, "s1", "", ""},
		group:               {"Microsoft.Resources/resourceGroups", "rg", sub, sub, "s1", "rg", ""},
		vnet:                {"Microsoft.Network/virtualNetworks", "net", group, group, "s1", "rg", ""},
		vnet + "/subnets/a": {"Microsoft.Network/virtualNetworks/subnets", "a", vnet, group, "s1", "rg", ""},
		sub + "/providers/Microsoft.Authorization/policyDefinitions/p": {
			"Microsoft.Authorization/policyDefinitions", "p", sub, sub, "s1", "", "",
		},
		mgmt: {"Microsoft.Management/managementGroups", "mg", "", "", "", "", "mg"},
		mgmt + "/providers/Microsoft.Authorization/policyAssignments/p": {
			"Microsoft.Authorization/policyAssignments", "p", mgmt, mgmt, "", "", "mg",
		},
		"/providers/Microsoft.Billing/billingAccounts/b": {"Microsoft.Billing/billingAccounts", "b", "", "", "", "", ""},
		vnet + "/providers/Microsoft.Authorization/locks/l": {
			"Microsoft.Authorization/locks", "l", vnet, vnet, "s1", "rg", "",
		},
		vnet + "/subnets/a/providers/Microsoft.X/y/1/providers/Microsoft.Z/w/2": {
			"Microsoft.Z/w", "2", vnet + "/subnets/a/providers/Microsoft.X/y/1", vnet + "/subnets/a/providers/Microsoft.X/y/1", "s1", "rg", "",
		},
		vnet + "/subnets/providers/providers/Microsoft.X/y/1": {
			"Microsoft.X/y", "1", vnet + "/subnets/providers", vnet + "/subnets/providers", "s1", "rg", "",
		},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			got, err := ParseID(id)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, facts{
				got.Type(), got.Name(), got.Parent().String(), got.ScopeID(), got.SubscriptionID, got.ResourceGroup, got.ManagementGroup,
			}); d != "" {
				t.Error(d)
			}
			if got.String() != id {
				t.Errorf("written as %s", got)
			}
			shout, err := ParseID(strings.ToUpper(id) + "/")
			if err != nil || !shout.Equal(got) {
				t.Errorf("%s is not equal: %v", shout, err)
			}
		})
	}
}

func TestParseIDRefuses(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"nothing": "", "a slash": "/", "no slash": "subscriptions/s1", "two slashes": "/" + group, "a hole": sub + "//resourceGroups/rg",
		"a collection": sub + "/resourceGroups", "no name": vnet + "/subnets", "a provider": sub + "/providers/Microsoft.Network",
		"no type": group + "/providers/Microsoft.Network/virtualNetworks", "a query": group + "?x", "up": group + "/../rg2",
		"up in a name": vnet + "/subnets/..", "here": vnet + "/subnets/.", "a backslash": vnet + `/subnets/..\..`, "a line break": vnet + "/subnets/a\nb",
		"a subscription as a resource": "/providers/Microsoft.Resources/subscriptions/s1",
		"a group as a resource":        sub + "/providers/Microsoft.Resources/resourceGroups/rg",
	} {
		if id, err := ParseID(s); err == nil {
			t.Errorf("%s: %q was read as %s", name, s, id)
		}
	}
}

func TestChild(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ parent, typ, name, want string }{
		"group":            {sub, "resourceGroups", "rg", group},
		"group by type":    {sub, "Microsoft.Resources/resourceGroups", "rg", group},
		"resource":         {group, "Microsoft.Network/virtualNetworks", "net", vnet},
		"nested":           {vnet, "subnets", "a", vnet + "/subnets/a"},
		"extension":        {vnet, "Microsoft.Authorization/locks", "l", vnet + "/providers/Microsoft.Authorization/locks/l"},
		"a slash":          {vnet, "subnets", "a/b/c", ""},
		"a way out":        {vnet, "subnets", "..", ""},
		"no name":          {vnet, "subnets", "", ""},
		"a query for name": {vnet, "subnets", "a?b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := ParseID(tc.parent)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Child(tc.typ, tc.name)
			if (err != nil) != (tc.want == "") || got.String() != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	id, err := ParseID(vnet)
	if err != nil {
		t.Fatal(err)
	}
	for scope, want := range map[string]bool{
		"/": true, sub: true, strings.ToUpper(sub): true, group: true, group + "/": true, vnet: true,
		"": false, "/subscriptions/s": false, sub + "/resourceGroups/r": false, vnet + "/subnets/a": false,
	} {
		if got := id.Within(scope); got != want {
			t.Errorf("within %q is %v, want %v", scope, got, want)
		}
	}
	if (ID{}).Within("/") {
		t.Error("nothing lies within the tenant")
	}
}

func FuzzParseID(f *testing.F) {
	for _, s := range []string{
		sub, group, vnet, vnet + "/subnets/a", mgmt, mgmt + "/providers/A.B/c/d", vnet + "/providers/A.B/c/d/providers/E.F/g/h",
		"/providers/Microsoft.Resources/subscriptions/x", sub + "/PROVIDERS/a/b/c/", "/providers/providers/providers/providers",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		if err != nil {
			return
		}
		again, err := ParseID(id.String())
		if err != nil {
			t.Fatalf("%q was written as %q: %v", s, id, err)
		}
		if d := cmp.Diff(id, again); d != "" {
			t.Errorf("%q: %s", s, d)
		}
		if !strings.EqualFold(strings.TrimSuffix(s, "/"), id.String()) {
			t.Errorf("%q was written as %q", s, id)
		}
		for p := id.Parent(); !p.IsZero(); p = p.Parent() {
			if !id.Within(p.String()) {
				t.Errorf("%s does not lie within its parent %s", id, p)
			}
		}
	})
}

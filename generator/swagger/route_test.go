package swagger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-dev/armature/generator/swagger"
	"github.com/armature-dev/armature/pkg/resource"
)

func TestParseRoute(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]*swagger.Route{
		"/subscriptions/{s}/resourceGroups/{g}/providers/A.B/things/{n}":                       {Type: "A.B/things", Scope: resource.ResourceGroup, Name: "{n}"},
		"/Subscriptions/{s}/resourcegroups/{g}/Providers/A.B/things/{n}/parts/default/":        {Type: "A.B/things/parts", Scope: resource.ResourceGroup, Name: "default", Path: "/Subscriptions/{s}/resourcegroups/{g}/Providers/A.B/things/{n}/parts/default"},
		"/subscriptions/{s}/resourcegroups/{g}":                                                {Type: "Microsoft.Resources/resourceGroups", Scope: resource.Subscription, Name: "{g}"},
		"/subscriptions/{s}/providers/A.B/things/{n}":                                          {Type: "A.B/things", Scope: resource.Subscription, Name: "{n}"},
		"/providers/A.B/things/{n}":                                                            {Type: "A.B/things", Scope: resource.Tenant, Name: "{n}"},
		"/providers/Microsoft.Management/managementGroups/{m}/providers/A.B/things/{n}":        {Type: "A.B/things", Scope: resource.ManagementGroup, Name: "{n}"},
		"/{scope}/providers/A.B/things/{n}":                                                    {Type: "A.B/things", Scope: resource.Extension, Name: "{n}"},
		"/subscriptions/{s}/resourceGroups/{g}/providers/{p}/{t}/{r}/providers/A.B/things/{n}": {Type: "A.B/things", Scope: resource.Extension, Name: "{n}"},
		"/subscriptions/{s}/resourceGroups/{g}/providers/A.B/zones/{z}/{recordType}/{name}":    {Type: "A.B/zones/{recordType}", Scope: resource.ResourceGroup, Name: "{name}"},
		"/subscriptions/{s}/resourceGroups/{g}/providers/A.B/things":                           nil,
		"/subscriptions/{s}/resourceGroups/{g}/providers/A.B/things/{n}/start":                 nil,
		"/subscriptions/{s}": nil, "/": nil, "": nil, "/providers": nil, "/providers/{a}/b/{c}": nil, "/providers/A.B//{c}": nil,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got, ok := swagger.ParseRoute(path)
			if !ok {
				if want != nil {
					t.Fatalf("not read, want %v", want)
				}
				return
			}
			if want == nil {
				t.Fatalf("got %v, want none", got)
			}
			if want.Path == "" {
				want.Path = path
			}
			if d := cmp.Diff(*want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	types := []string{"Microsoft.Network/virtualNetworks", "Microsoft.Compute/virtualMachines"}
	for name, want := range map[string]string{
		"Microsoft.Network/virtualNetwork": types[0], "microsoft.compute/virtualmachine": types[1], "Something/else": "",
	} {
		if got := swagger.Nearest(name, types); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

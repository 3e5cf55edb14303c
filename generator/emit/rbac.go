package emit

import (
	"slices"

	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/generator/classify"
)

type roleFile struct {
	metav1.TypeMeta `json:",inline"`

	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Rules []rbac.PolicyRule `json:"rules"`
}

// Role writes what the manager may do: its kinds, and what it needs beside
// them.
func Role(all []*classify.Result) (File, error) {
	role := roleFile{TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"}}
	role.Metadata.Name = "armature-manager"
	read := []string{"get", "list", "watch"}
	groups, members := byGroup(all)
	for _, g := range groups {
		var kinds, status, finalizers []string
		for _, k := range members[g] {
			kinds = append(kinds, k.Plural)
			status = append(status, k.Plural+"/status")
			finalizers = append(finalizers, k.Plural+"/finalizers")
		}
		for _, list := range [][]string{kinds, status, finalizers} {
			slices.Sort(list)
		}
		role.Rules = append(role.Rules,
			rbac.PolicyRule{APIGroups: []string{g}, Resources: kinds, Verbs: append(slices.Clone(read), "patch", "update")},
			rbac.PolicyRule{APIGroups: []string{g}, Resources: status, Verbs: []string{"get", "patch", "update"}},
			rbac.PolicyRule{APIGroups: []string{g}, Resources: finalizers, Verbs: []string{"update"}})
	}
	role.Rules = append(role.Rules,
		rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: read},
		rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: append(slices.Clone(read), "create", "patch", "update")},
		rbac.PolicyRule{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		rbac.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: append(slices.Clone(read), "create", "delete", "patch", "update")},
		rbac.PolicyRule{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: read},
		rbac.PolicyRule{APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"validatingwebhookconfigurations"}, Verbs: append(slices.Clone(read), "patch", "update")})
	return yamlFile("config/rbac/role.yaml", role)
}

package emit

import (
	"slices"

	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/generator/classify"
)

type roleFile struct {
	metav1.TypeMeta `json:",inline"`

	Metadata crdMeta           `json:"metadata"`
	Rules    []rbac.PolicyRule `json:"rules"`
}

// Role writes what the manager may do with the kinds. Its label adds it to the
// manager's own role.
func Role(all []*classify.Result) (File, error) {
	role := roleFile{TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"}}
	role.Metadata = crdMeta{Name: "armature-generated-kinds", Labels: map[string]string{"armature.dev/aggregate-to-manager": "true"}}
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
	return yamlFile("config/rbac/role.yaml", role)
}

package emit_test

import (
	"context"
	"os"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/config"
)

// validate says what the API server would say of a CRD, the cost of its rules
// included.
func validate(t *testing.T, b []byte) {
	t.Helper()
	for _, problem := range problems(t, b) {
		t.Error(problem)
	}
}

func problems(t *testing.T, b []byte) []string {
	t.Helper()
	var v1 apiext.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(b, &v1); err != nil {
		return []string{err.Error()}
	}
	apiext.SetDefaults_CustomResourceDefinition(&v1)
	apiext.SetDefaults_CustomResourceDefinitionSpec(&v1.Spec)
	var internal apiextensions.CustomResourceDefinition
	if err := apiext.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&v1, &internal, nil); err != nil {
		return []string{err.Error()}
	}
	var out []string
	internal.Status.StoredVersions = []string{"v1alpha1"}
	for _, e := range validation.ValidateCustomResourceDefinition(context.Background(), &internal) {
		out = append(out, e.Error())
	}
	return out
}

func TestCommittedCRDsAreEstablishable(t *testing.T) {
	t.Parallel()
	crds, err := config.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	if len(crds) == 0 {
		t.Fatal("no CRDs are embedded")
	}
	for name, b := range crds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			validate(t, b)
		})
	}
}

// TestFolderOfCRDs validates the CRDs in the folder that CRDS names: for runs
// over many types.
func TestFolderOfCRDs(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("CRDS")
	if dir == "" {
		t.Skip("CRDS names no folder of CRDs to validate")
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	bad := 0
	for _, f := range files {
		b, err := os.ReadFile(dir + "/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if p := problems(t, b); len(p) > 0 {
			bad++
			t.Errorf("%s: %d problems: %s", f.Name(), len(p), p[0])
		}
	}
	t.Logf("%d of %d CRDs are valid", len(files)-bad, len(files))
}

package env_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/armature-dev/armature/test/e2e/env"
)

func TestControlPlane(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	plane, err := env.Start(ctx, env.Options{Dir: t.TempDir(), Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	defer plane.Stop()
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	namespaces := client.CoreV1().Namespaces()
	space, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "env-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"colour": "blue"}}
	if _, err := client.CoreV1().ConfigMaps(space.Name).Create(ctx, settings, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	kubectl := exec.CommandContext(ctx, plane.Kubectl, "--kubeconfig", plane.Kubeconfig, "-n", space.Name,
		"get", "configmap", "settings", "-o", "jsonpath={.data.colour}")
	if out, err := kubectl.CombinedOutput(); err != nil || string(out) != "blue" {
		t.Errorf("kubectl get: %v, %q", err, out)
	}
	if err := namespaces.Delete(ctx, space.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := namespaces.Get(ctx, space.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		t.Errorf("waiting until the namespace is gone: %v", err)
	}
	plane.Stop()
	if _, err := client.Discovery().ServerVersion(); err == nil && os.Getenv("ARMATURE_USE_EXISTING_CLUSTER") == "" {
		t.Error("the API server still answers after Stop")
	}
}

func TestMissingBinary(t *testing.T) {
	repo := t.TempDir()
	if err := os.WriteFile(filepath.Join(repo, "go.mod"), []byte("module github.com/armature-dev/armature\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(repo)
	t.Setenv("KUBEBUILDER_ASSETS", "")
	t.Setenv("ARMATURE_USE_EXISTING_CLUSTER", "")
	plane, err := env.Start(t.Context(), env.Options{})
	if err == nil {
		plane.Stop()
		t.Fatal("no error")
	}
	if !strings.Contains(err.Error(), "run `make controlplane`") {
		t.Errorf("no hint in %q", err)
	}
}

func TestRoot(t *testing.T) {
	repo := t.TempDir()
	nested := filepath.Join(repo, "test", "nested")
	if err := os.MkdirAll(nested, 0o750); err != nil {
		t.Fatal(err)
	}
	for dir, module := range map[string]string{repo: "", nested: "/test/nested"} {
		content := "module github.com/armature-dev/armature" + module + "\n\ngo 1.26\n"
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		dir   string
		found bool
	}{
		"at the root":   {repo, true},
		"nested module": {nested, true},
		"outside":       {t.TempDir(), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(test.dir)
			got, err := env.Root()
			if (err == nil) != test.found || test.found && got != repo {
				t.Errorf("Root() = %q, %v", got, err)
			}
		})
	}
}

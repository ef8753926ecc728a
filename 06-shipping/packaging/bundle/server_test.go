package bundle

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/06-shipping/internal/testmanifests"
	"example.com/hacking-a-controller/testcluster"
)

// The API server has OLM's own schema of a ClusterServiceVersion.
func TestTheAPIServerTakesABundle(t *testing.T) {
	cluster := testcluster.Start(t)
	cluster.InstallCRDs(t, testcluster.ReadCRDs(t, crds(t))...)
	c, err := client.New(cluster.Config, client.Options{})
	require.NoError(t, err)
	require.NoError(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "operators"}}))
	for _, version := range versions {
		for _, object := range append(read(t, version).beside, manifest(t, version)) {
			require.NoError(t, create(t, c, object), "%s %s", object.GetKind(), object.GetName())
		}
	}
	for sentence, broken := range map[string]func(spec map[string]any){
		"an unknown field":    func(spec map[string]any) { spec["successor"] = "v0.6.1" },
		"no install strategy": func(spec map[string]any) { delete(spec, "install") },
		"a Deployment without a selector": func(spec map[string]any) {
			deployments, _, _ := unstructured.NestedSlice(spec, "install", "spec", "deployments")
			unstructured.RemoveNestedField(deployments[0].(map[string]any), "spec", "selector")
			_ = unstructured.SetNestedSlice(spec, deployments, "install", "spec", "deployments")
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := manifest(t, "v0.6.1")
			broken(object.Object["spec"].(map[string]any))
			assert.Error(t, create(t, c, object))
		})
	}
}

// manifest is the ClusterServiceVersion with all its fields.
func manifest(t *testing.T, version string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(version + "/manifests/cnat.clusterserviceversion.yaml")
	require.NoError(t, err)
	return testmanifests.Decode(t, content)[0]
}

// crds is the folder with OLM's CRDs, in the version of tools/pinned/olm/go.mod.
func crds(t *testing.T) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/operator-framework/api")
	command.Dir = "../../../tools/pinned/olm"
	command.Env = append(os.Environ(), "GOWORK=off")
	output, err := command.Output()
	require.NoError(t, err)
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(output, &module))
	return filepath.Join(module.Dir, "crds")
}

// create makes a dry run.
func create(t *testing.T, c client.Client, object client.Object) error {
	t.Helper()
	namespaced, err := c.IsObjectNamespaced(object)
	require.NoError(t, err)
	if namespaced {
		object.SetNamespace("operators")
	}
	return c.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

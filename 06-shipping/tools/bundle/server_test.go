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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/testcluster"
)

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

// The API server has OLM's own schema of a ClusterServiceVersion.
func TestTheAPIServerTakesABundle(t *testing.T) {
	cluster := testcluster.Start(t)
	cluster.InstallCRDs(t, testcluster.ReadCRDs(t, crds(t))...)
	c, err := client.New(cluster.Config, client.Options{})
	require.NoError(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "operators"}}
	require.NoError(t, c.Create(t.Context(), namespace))
	for _, release := range releases {
		b := committed(t, release)
		for _, object := range append(b.Objects, b.CSV) {
			require.NoError(t, create(t, c, object), "%s %s", object.GetKind(), object.GetName())
		}
	}
	for name, broken := range map[string]func(b *Bundle){
		"an unknown field":                func(b *Bundle) { b.set("v0.6.1", "spec", "successor") },
		"no install strategy":             func(b *Bundle) { delete(b.CSV.Object["spec"].(map[string]any), "install") },
		"a resource without a name":       func(b *Bundle) { delete(b.owned()[0]["resources"].([]any)[0].(map[string]any), "name") },
		"a Deployment without a selector": func(b *Bundle) { delete(b.deployment()["spec"].(map[string]any), "selector") },
	} {
		t.Run(name, func(t *testing.T) {
			b := committed(t, releases[1])
			broken(b)
			assert.Error(t, create(t, c, b.CSV))
		})
	}
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

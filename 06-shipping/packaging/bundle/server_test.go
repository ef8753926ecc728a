package bundle

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		csv, err := os.ReadFile(version + "/manifests/cnat.clusterserviceversion.yaml")
		require.NoError(t, err)
		for _, object := range append(read(t, version).beside, testmanifests.Decode(t, csv)...) {
			namespaced, err := c.IsObjectNamespaced(object)
			require.NoError(t, err)
			if namespaced {
				object.SetNamespace("operators")
			}
			err = c.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
			require.NoError(t, err, "%s %s", object.GetKind(), object.GetName())
		}
	}
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

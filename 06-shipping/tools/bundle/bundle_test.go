package bundle

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/hacking-a-controller/testcluster"
)

// built is what Kustomize builds for a version.
func built(t *testing.T, version string) Manifests {
	t.Helper()
	testcluster.DependOnInputs() // all of it is outside of this module
	require.NotEmpty(t, os.Getenv("KUSTOMIZE"), "KUSTOMIZE is not set: run `make test-6-tools` at the root of the repository, which builds the program")
	command := exec.CommandContext(t.Context(), "sh", "../../dist.sh", version)
	command.Env = append(os.Environ(), "IMAGE=", "REGION=")
	output, err := command.Output()
	require.NoError(t, err)
	manifests, err := ReadManifests(bytes.NewReader(output))
	require.NoError(t, err)
	return manifests
}

func readBase(t *testing.T) *Base {
	t.Helper()
	base, err := ReadBase(filepath.Join(packaging, "olm/base.yaml"))
	require.NoError(t, err)
	return base
}

func TestABundleHasAllThatKustomizeBuilds(t *testing.T) {
	for _, release := range releases {
		manifests := built(t, release.Version)
		b, err := New(readBase(t), manifests, release)
		require.NoError(t, err)
		inCSV := map[string]bool{ // by kind and name
			"Deployment cnat-manager": true, "ServiceAccount cnat-manager": true, "Namespace cnat-system": true,
			"ClusterRole cnat-manager": true, "ClusterRoleBinding cnat-manager": true,
			"ClusterRole cnat-metrics-auth": true, "ClusterRoleBinding cnat-metrics-auth": true,
			"Role cnat-manager-leader": true, "RoleBinding cnat-manager-leader": true,
		}
		var beside, leftOut Manifests
		for _, object := range manifests {
			switch kind := object.GetKind(); {
			case inCSV[kind+" "+object.GetName()]:
			case kind == "ValidatingAdmissionPolicy" || kind == "ValidatingAdmissionPolicyBinding":
				leftOut = append(leftOut, object)
			default:
				object = object.DeepCopy()
				unstructured.RemoveNestedField(object.Object, "metadata", "namespace")
				beside = append(beside, object)
			}
		}
		assert.Equal(t, beside, b.Objects)
		assert.Equal(t, leftOut, b.LeftOut)
		deployment, err := manifests.named("Deployment", "cnat-manager")
		require.NoError(t, err)
		assert.Equal(t, deployment.Object["spec"], b.deployment()["spec"])
	}
}

func TestWhatIsCommittedIsCurrent(t *testing.T) {
	var bundles []*Bundle
	for _, release := range releases {
		b, err := New(readBase(t), built(t, release.Version), release)
		require.NoError(t, err)
		want, err := b.Files()
		require.NoError(t, err)
		got, err := committed(t, release).Files()
		require.NoError(t, err)
		assert.Equal(t, want, got, "run: sh generate.sh")
		bundles = append(bundles, committed(t, release))
	}
	want, err := Catalog(bundles)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(packaging, "catalog/cnat/catalog.yaml"))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run: sh generate.sh")
}

func TestManifestsThatMakeNoBundle(t *testing.T) {
	manifests := built(t, "v0.6.0")
	for name, tc := range map[string]struct {
		change  func(all Manifests, base *Base) Manifests
		release string
		message string
	}{
		"a kind that OLM does not know": {
			func(all Manifests, base *Base) Manifests {
				delete(base.LeftOut, "ValidatingAdmissionPolicy")
				return all
			}, "v0.6.0", "OLM installs no ValidatingAdmissionPolicy, such as cnat-pods; remove it, or write under leftOut why the operator works without it",
		},
		"a role in another namespace": {
			func(all Manifests, _ *Base) Manifests {
				all.ofKind("Role")[0].SetNamespace("team-a")
				return all
			}, "v0.6.0", "the Role cnat-manager-leader is in the namespace team-a, and the Deployment in cnat-system; OLM installs a bundle in one namespace",
		},
		"a binding without its role": {
			func(all Manifests, _ *Base) Manifests {
				all.ofKind("ClusterRole")[0].SetName("other")
				return all
			}, "v0.6.0", "the ClusterRoleBinding cnat-manager: the ClusterRole cnat-manager is not among the manifests; add it",
		},
		"a binding that is for others, too": {
			func(all Manifests, _ *Base) Manifests {
				binding := all.ofKind("RoleBinding")[0]
				subjects, _, _ := unstructured.NestedSlice(binding.Object, "subjects")
				subjects = append(subjects, map[string]any{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"})
				_ = unstructured.SetNestedSlice(binding.Object, subjects, "subjects")
				return all
			}, "v0.6.0", "the RoleBinding cnat-manager-leader has other subjects, too; give them a binding of their own",
		},
		"a field that a role does not have": {
			func(all Manifests, _ *Base) Manifests {
				all.ofKind("ClusterRole")[0].Object["rule"] = []any{}
				return all
			}, "v0.6.0", `reading the ClusterRole cnat-manager: strict decoding error: unknown field "rule"`,
		},
		"no Deployment": {
			func(Manifests, *Base) Manifests { return nil },
			"v0.6.0", "there are 0 Deployments; give the manifests of one operator",
		},
		"a Deployment without an account": {
			func(all Manifests, _ *Base) Manifests {
				unstructured.RemoveNestedField(all.ofKind("Deployment")[0].Object, "spec", "template", "spec", "serviceAccountName")
				return all
			}, "v0.6.0", "the Deployment cnat-manager has no service account; name the one that its roles are bound to",
		},
		"a CRD that nobody describes": {
			func(all Manifests, base *Base) Manifests {
				_ = unstructured.SetNestedSlice(base.CSV, nil, "spec", "customresourcedefinitions", "owned")
				return all
			}, "v0.6.0", "the base does not describe the CRD ats.cnat.programming-kubernetes.info; add it to customresourcedefinitions.owned",
		},
		"a version that is none": {
			func(all Manifests, _ *Base) Manifests { return all },
			"latest", `--version "latest" is not a version; write one such as v0.6.0`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all Manifests
			for _, object := range manifests {
				all = append(all, object.DeepCopy())
			}
			base := readBase(t)
			_, err := New(base, tc.change(all, base), Release{Version: tc.release})
			require.EqualError(t, err, tc.message)
		})
	}
}

func TestOnlyWhatIsBoundToTheAccountIsGranted(t *testing.T) {
	manifests := built(t, "v0.6.0")
	b, err := New(readBase(t), manifests, releases[0])
	require.NoError(t, err)
	for _, rule := range b.granted("clusterPermissions") {
		assert.Empty(t, rule.NonResourceURLs, "cnat-metrics-reader is for those who read metrics")
	}
}

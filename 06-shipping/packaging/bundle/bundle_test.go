// Package bundle tests the bundles for the Operator Lifecycle Manager (OLM). People write them: each version is a
// folder, and the next one begins as its copy. The tests compare them with what Kustomize builds, and with what OLM
// asks of a bundle.
package bundle

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/06-shipping/internal/testmanifests"
)

type objects = testmanifests.Objects

// bundle is a version of the operator, as its folder has it.
type bundle struct {
	annotations map[string]string
	csv         csv
	beside      objects // the other manifests
	size        int
}

// csv is a ClusterServiceVersion, as far as the tests read it.
type csv struct {
	Metadata metav1.ObjectMeta
	Spec     struct {
		Version, Replaces string
		Icon              []icon
		RelatedImages     []struct{ Image string }
		InstallModes      []struct{ Type string }
		CRDs              struct{ Owned []description } `json:"customresourcedefinitions"`
		Install           struct {
			Spec struct {
				ClusterPermissions, Permissions []permissions
				Deployments                     []deployment
			}
		}
	}
}

type icon struct {
	Base64Data []byte `json:"base64data"`
	MediaType  string `json:"mediatype"`
}

// description is what a user interface shows of a kind.
type description struct {
	Name, Kind, Version                string
	SpecDescriptors, StatusDescriptors []struct{ Path string }
}

type permissions struct {
	ServiceAccountName string
	Rules              []rbacv1.PolicyRule
}

type deployment struct {
	Name  string
	Label map[string]string
	Spec  appsv1.DeploymentSpec
}

// read reads the bundle of a version.
func read(t *testing.T, version string) *bundle {
	t.Helper()
	b := &bundle{}
	files, err := filepath.Glob(version + "/*/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		b.size += len(content)
		switch {
		case filepath.Base(file) == "annotations.yaml":
			require.NoError(t, yaml.Unmarshal(content, &struct{ Annotations *map[string]string }{&b.annotations}))
		case filepath.Base(file) == "cnat.clusterserviceversion.yaml":
			require.NoError(t, yaml.Unmarshal(content, &b.csv))
		default:
			b.beside = append(b.beside, testmanifests.Decode(t, content)...)
		}
	}
	return b
}

// built is what Kustomize builds for a version.
func built(t *testing.T, version string) objects {
	t.Helper()
	manifests, err := testmanifests.Dist(t, "../..", version, "")
	require.NoError(t, err)
	return testmanifests.Decode(t, manifests)
}

// find is the object of a kind and name.
func find(t *testing.T, all objects, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range all {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	require.Failf(t, "missing", "there is no %s %s", kind, name)
	return nil
}

// as is an object as its Go type, without a field that the type does not have.
func as[T any](t *testing.T, object *unstructured.Unstructured) (typed T) {
	t.Helper()
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true))
	return typed
}

// inCSV are the objects of an installation that a ClusterServiceVersion stands for: OLM makes the accounts and
// bindings itself, and a user chooses the namespace.
var inCSV = map[string]bool{
	"Namespace cnat-system": true, "Deployment cnat-manager": true, "ServiceAccount cnat-manager": true,
	"ClusterRole cnat-manager": true, "ClusterRoleBinding cnat-manager": true,
	"ClusterRole cnat-metrics-auth": true, "ClusterRoleBinding cnat-metrics-auth": true,
	"Role cnat-manager-leader": true, "RoleBinding cnat-manager-leader": true,
}

// leftOut are the objects that OLM cannot install. The description tells an administrator to apply them.
var leftOut = map[string]bool{"ValidatingAdmissionPolicy cnat-pods": true, "ValidatingAdmissionPolicyBinding cnat-pods": true}

// besideCSV are the other objects of an installation, by kind and name, without the namespace that OLM chooses.
func besideCSV(all objects) map[string]any {
	named := map[string]any{}
	for _, object := range all {
		if name := object.GetKind() + " " + object.GetName(); !inCSV[name] && !leftOut[name] {
			object = object.DeepCopy()
			object.SetNamespace("")
			named[name] = object.Object
		}
	}
	return named
}

func TestTheBundlesKeepTheRules(t *testing.T) {
	for _, version := range versions {
		manifests := built(t, version)
		for sentence, compare := range rules {
			t.Run(version+": "+sentence, func(t *testing.T) {
				want, got := compare(t, read(t, version), manifests)
				assert.Equal(t, want, got)
			})
		}
	}
}

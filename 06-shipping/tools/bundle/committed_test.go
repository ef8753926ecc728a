package bundle

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/testcluster"
)

const packaging = "../../packaging"

// The bundles that are committed, the oldest first.
var releases = []Release{{Version: "v0.6.0"}, {Version: "v0.6.1", Replaces: "v0.6.0"}}

// committed is a bundle of the stage.
func committed(t *testing.T, release Release) *Bundle {
	t.Helper()
	testcluster.DependOnInputs() // it is outside of this module
	b, err := Read(filepath.Join(packaging, "bundle", release.Version))
	require.NoError(t, err)
	return b
}

type channelBlob struct {
	Schema, Name, Package string
	Entries               []entry
}

// channel is that of the catalogue of the stage.
func channel(t *testing.T) channelBlob {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(packaging, "catalog/cnat/catalog.yaml"))
	require.NoError(t, err)
	for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
		var blob channelBlob
		require.NoError(t, yaml.Unmarshal(document, &blob))
		if blob.Schema == "olm.channel" {
			return blob
		}
	}
	require.Fail(t, "the catalogue has no channel")
	return channelBlob{}
}

// roleOf has the rules of a role in config/rbac/role.yaml.
func roleOf(t *testing.T, name string) []rbacv1.PolicyRule {
	t.Helper()
	objects, err := readFile("../../config/rbac/role.yaml")
	require.NoError(t, err)
	for _, object := range objects {
		if object.GetName() == name {
			role, err := convert[rbacv1.ClusterRole](object)
			require.NoError(t, err)
			return role.Rules
		}
	}
	require.Fail(t, "there is no role "+name)
	return nil
}

// describesFields checks the paths of the descriptors of a CRD.
func describesFields(object *unstructured.Unstructured, owned map[string]any) error {
	crd, err := convert[apiextensionsv1.CustomResourceDefinition](object)
	if err != nil {
		return err
	}
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	for part, descriptors := range map[string]string{"spec": "specDescriptors", "status": "statusDescriptors"} {
		described, _, _ := unstructured.NestedSlice(owned, descriptors)
		for _, d := range described {
			path := d.(map[string]any)["path"].(string)
			if _, ok := schema[part].Properties[path]; !ok {
				return fmt.Errorf("%s has no %s.%s", crd.Name, part, path)
			}
		}
	}
	return nil
}

// want is an error if the two differ.
func want(expected, actual any) error {
	if !assert.ObjectsAreEqual(expected, actual) {
		return fmt.Errorf("want %v, and it is %v", expected, actual)
	}
	return nil
}

func (b *Bundle) text(path ...string) string {
	text, _, _ := unstructured.NestedString(b.CSV.Object, path...)
	return text
}

func (b *Bundle) set(value any, path ...string) {
	if err := unstructured.SetNestedField(b.CSV.Object, value, path...); err != nil {
		panic(err)
	}
}

// owned are the descriptions of the CRDs themselves, and no copy.
func (b *Bundle) owned() []map[string]any {
	owned := b.CSV.Object["spec"].(map[string]any)["customresourcedefinitions"].(map[string]any)["owned"].([]any)
	var all []map[string]any
	for _, one := range owned {
		all = append(all, one.(map[string]any))
	}
	return all
}

func (b *Bundle) install() map[string]any {
	return b.CSV.Object["spec"].(map[string]any)["install"].(map[string]any)["spec"].(map[string]any)
}

func (b *Bundle) deployment() map[string]any {
	return b.install()["deployments"].([]any)[0].(map[string]any)
}

func (b *Bundle) permissions(scope string) map[string]any {
	return b.install()[scope].([]any)[0].(map[string]any)
}

// granted are the rules that the bundle grants.
func (b *Bundle) granted(scope string) []rbacv1.PolicyRule {
	role, err := convert[rbacv1.ClusterRole](&unstructured.Unstructured{Object: map[string]any{"rules": b.permissions(scope)["rules"]}})
	if err != nil {
		panic(err)
	}
	return role.Rules
}

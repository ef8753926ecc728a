package bundle

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/06-shipping/internal/testmanifests"
)

// The versions that have a bundle, the oldest first.
var versions = []string{"v0.6.0", "v0.6.1"}

// supported are the kinds that OLM takes, of those that a controller needs. The whole list is in its documents, and
// in supported_resources.go of operator-registry.
var supported = []string{
	"ClusterRole", "ClusterRoleBinding", "ConfigMap", "CustomResourceDefinition", "NetworkPolicy",
	"PodDisruptionBudget", "PriorityClass", "PrometheusRule", "Role", "RoleBinding", "Secret", "Service",
	"ServiceAccount", "ServiceMonitor",
}

// rules compare a bundle with what Kustomize builds, or with what OLM asks of it.
var rules = map[string]func(t *testing.T, b *bundle, built objects) (want, got any){
	"the Deployment is the one that Kustomize builds": func(t *testing.T, b *bundle, built objects) (want, got any) {
		d := as[appsv1.Deployment](t, find(t, built, "Deployment", "cnat-manager"))
		return []deployment{{d.Name, d.Labels, d.Spec}}, b.csv.Spec.Install.Spec.Deployments
	},
	"the rights in the cluster are those of the ClusterRoles": func(t *testing.T, b *bundle, built objects) (want, got any) {
		manager, auth := find(t, built, "ClusterRole", "cnat-manager"), find(t, built, "ClusterRole", "cnat-metrics-auth")
		all := slices.Concat(as[rbacv1.ClusterRole](t, manager).Rules, as[rbacv1.ClusterRole](t, auth).Rules)
		return []permissions{{"cnat-manager", all}}, b.csv.Spec.Install.Spec.ClusterPermissions
	},
	"the rights in its namespace are those of the Role": func(t *testing.T, b *bundle, built objects) (want, got any) {
		role := as[rbacv1.Role](t, find(t, built, "Role", "cnat-manager-leader"))
		return []permissions{{"cnat-manager", role.Rules}}, b.csv.Spec.Install.Spec.Permissions
	},
	"all else that Kustomize builds is beside it, without a namespace": func(_ *testing.T, b *bundle, built objects) (want, got any) {
		files := map[string]any{}
		for _, object := range b.beside {
			files[object.GetKind()+" "+object.GetName()] = object.Object
		}
		return besideCSV(built), files
	},
	"OLM knows each kind": func(_ *testing.T, b *bundle, _ objects) (want, got any) {
		unknown := []string{}
		for _, object := range b.beside {
			if kind := object.GetKind(); !slices.Contains(supported, kind) {
				unknown = append(unknown, kind)
			}
		}
		return []string{}, unknown
	},
	"it suggests the namespace that Kustomize builds, with its labels": func(t *testing.T, b *bundle, built objects) (want, got any) {
		var suggested map[string]any
		require.NoError(t, json.Unmarshal([]byte(b.csv.Metadata.Annotations["operatorframework.io/suggested-namespace-template"]), &suggested))
		return find(t, built, "Namespace", "cnat-system").Object, suggested
	},
	"the samples are those of config/samples": func(t *testing.T, b *bundle, _ objects) (want, got any) {
		var files, samples []any
		for _, name := range []string{"at", "settings"} {
			content, err := os.ReadFile("../../config/samples/" + name + ".yaml")
			require.NoError(t, err)
			for _, object := range testmanifests.Decode(t, content) {
				files = append(files, object.Object)
			}
		}
		require.NoError(t, yaml.Unmarshal([]byte(b.csv.Metadata.Annotations["alm-examples"]), &samples))
		return inJSON(t, files), inJSON(t, samples)
	},
	"the name is that of the package and of a semantic version": func(_ *testing.T, b *bundle, _ objects) (want, got any) {
		semantic, err := version.ParseSemantic(b.csv.Spec.Version)
		if err != nil {
			return nil, err
		}
		return b.annotations[annotation+"package.v1"] + ".v" + semantic.String(), b.csv.Metadata.Name
	},
	"it replaces what the catalogue says, in the channel of the catalogue": func(t *testing.T, b *bundle, _ objects) (want, got any) {
		replaces := map[string]string{}
		channel := catalogue(t)
		for _, entry := range channel.Entries {
			replaces[entry.Name] = entry.Replaces
		}
		name := b.csv.Metadata.Name
		_, there := replaces[name]
		return []any{true, replaces[name], channel.Package, channel.Name},
			[]any{there, b.csv.Spec.Replaces, b.annotations[annotation+"package.v1"], b.annotations[annotation+"channels.v1"]}
	},
	"it owns each kind that its CRDs serve": func(t *testing.T, b *bundle, _ objects) (want, got any) {
		serves, owns := []string{}, []string{}
		for _, object := range b.beside {
			if object.GetKind() != "CustomResourceDefinition" {
				continue
			}
			crd := as[apiextensionsv1.CustomResourceDefinition](t, object)
			for _, v := range crd.Spec.Versions {
				serves = append(serves, crd.Name+" "+v.Name+" "+crd.Spec.Names.Kind)
			}
		}
		for _, owned := range b.csv.Spec.CRDs.Owned {
			owns = append(owns, owned.Name+" "+owned.Version+" "+owned.Kind)
		}
		slices.Sort(serves)
		slices.Sort(owns)
		return serves, owns
	},
	"what it describes of a kind is there": func(t *testing.T, b *bundle, _ objects) (want, got any) {
		missing := []string{}
		for _, owned := range b.csv.Spec.CRDs.Owned {
			crd := as[apiextensionsv1.CustomResourceDefinition](t, find(t, b.beside, "CustomResourceDefinition", owned.Name))
			schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
			for _, described := range owned.SpecDescriptors {
				if _, ok := schema["spec"].Properties[described.Path]; !ok {
					missing = append(missing, owned.Kind+" has no spec."+described.Path)
				}
			}
			for _, described := range owned.StatusDescriptors {
				if _, ok := schema["status"].Properties[described.Path]; !ok {
					missing = append(missing, owned.Kind+" has no status."+described.Path)
				}
			}
		}
		return []string{}, missing
	},
	"it names the image that it runs": func(_ *testing.T, b *bundle, _ objects) (want, got any) {
		image := b.csv.Spec.Install.Spec.Deployments[0].Spec.Template.Spec.Containers[0].Image
		return []string{image, image}, []string{b.csv.Spec.RelatedImages[0].Image, b.csv.Metadata.Annotations["containerImage"]}
	},
	"the icon is a picture of the type that it names": func(_ *testing.T, b *bundle, _ objects) (want, got any) {
		var picture struct{ XMLName xml.Name }
		if err := xml.Unmarshal(b.csv.Spec.Icon[0].Base64Data, &picture); err != nil {
			return nil, err
		}
		return "svg image/svg+xml", picture.XMLName.Local + " " + b.csv.Spec.Icon[0].MediaType
	},
	"each install mode is there once": func(_ *testing.T, b *bundle, _ objects) (want, got any) {
		var types []string
		for _, mode := range b.csv.Spec.InstallModes {
			types = append(types, mode.Type)
		}
		return "AllNamespaces MultiNamespace OwnNamespace SingleNamespace", strings.Join(slices.Sorted(slices.Values(types)), " ")
	},
	"it fits into a ConfigMap": func(_ *testing.T, b *bundle, _ objects) (want, got any) { return true, b.size < 1<<20 },
}

// annotation begins the name of each annotation of a bundle.
const annotation = "operators.operatorframework.io.bundle."

// channel is that of the catalogue.
type channel struct {
	Package, Name string
	Entries       []struct{ Name, Replaces string }
}

func catalogue(t *testing.T) (c channel) {
	t.Helper()
	content, err := os.ReadFile("../catalog/cnat.yaml")
	require.NoError(t, err)
	_, second, _ := strings.Cut(string(content), "\n---\n") // the first is the package
	require.NoError(t, yaml.Unmarshal([]byte(second), &c))
	return c
}

// inJSON makes numbers of the same type.
func inJSON(t *testing.T, value any) string {
	t.Helper()
	content, err := json.Marshal(value)
	require.NoError(t, err)
	return string(content)
}

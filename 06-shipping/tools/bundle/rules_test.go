package bundle

import (
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"
)

// A rule is a sentence of OLM's documents, or of this stage. It returns what is wrong.
type rule struct {
	check func(t *testing.T, b *Bundle) error
	// broken changes a bundle so that the rule finds something.
	broken func(b *Bundle)
}

var rules = map[string]rule{
	"the name is the package and the version": {
		func(_ *testing.T, b *Bundle) error {
			return want(b.Package+".v"+b.text("spec", "version"), b.CSV.GetName())
		},
		func(b *Bundle) { b.CSV.SetName("cnat-0.6.1") },
	},
	"the version is a semantic one": {
		func(_ *testing.T, b *Bundle) error {
			_, err := version.ParseSemantic(b.text("spec", "version"))
			return err
		},
		func(b *Bundle) { b.set("0.6", "spec", "version") },
	},
	"the version that it replaces is in the catalogue": {
		func(t *testing.T, b *Bundle) error {
			if replaces := b.text("spec", "replaces"); replaces != "" {
				return want(true, slices.ContainsFunc(channel(t).Entries, func(e entry) bool { return e.Name == replaces }))
			}
			return nil
		},
		func(b *Bundle) { b.set("cnat.v0.5.9", "spec", "replaces") },
	},
	"the channel and the package of the annotations are those of the catalogue": {
		func(t *testing.T, b *Bundle) error {
			c := channel(t)
			return want(c.Package+" "+c.Name, b.Package+" "+b.Channel)
		},
		func(b *Bundle) { b.Channel = "stable" },
	},
	"it owns each kind that its CRDs serve, and no other": {
		func(_ *testing.T, b *Bundle) error {
			var serves []string
			for _, crd := range b.Objects.ofKind("CustomResourceDefinition") {
				kinds, err := served(crd)
				if err != nil {
					return err
				}
				for _, kind := range kinds {
					serves = append(serves, fmt.Sprint(crd.GetName(), " ", kind.Version, " ", kind.Kind))
				}
			}
			var owns []string
			for _, owned := range b.owned() {
				owns = append(owns, fmt.Sprint(owned["name"], " ", owned["version"], " ", owned["kind"]))
			}
			return want(serves, owns)
		},
		func(b *Bundle) { b.owned()[0]["version"] = "v1" },
	},
	"each field that it describes is in the schema of its CRD": {
		func(_ *testing.T, b *Bundle) error {
			for _, owned := range b.owned() {
				crd, err := b.Objects.named("CustomResourceDefinition", owned["name"].(string))
				if err != nil {
					return err
				}
				if err := describesFields(crd, owned); err != nil {
					return err
				}
			}
			return nil
		},
		func(b *Bundle) {
			b.owned()[0]["specDescriptors"].([]any)[0].(map[string]any)["path"] = "cron"
		},
	},
	"there is a sample of each kind that it owns": {
		func(_ *testing.T, b *Bundle) error {
			var samples []map[string]any
			if err := yaml.Unmarshal([]byte(b.CSV.GetAnnotations()["alm-examples"]), &samples); err != nil {
				return err
			}
			for _, owned := range b.owned() {
				if !slices.ContainsFunc(samples, func(sample map[string]any) bool { return sample["kind"] == owned["kind"] }) {
					return fmt.Errorf("no sample of %s", owned["kind"])
				}
			}
			return nil
		},
		func(b *Bundle) { b.CSV.SetAnnotations(map[string]string{"alm-examples": "[]"}) },
	},
	"the rules for the whole cluster are those of config/rbac/role.yaml": {
		func(t *testing.T, b *Bundle) error {
			return want(slices.Concat(roleOf(t, "cnat-manager"), roleOf(t, "cnat-metrics-auth")), b.granted("clusterPermissions"))
		},
		func(b *Bundle) {
			delete(b.permissions("clusterPermissions")["rules"].([]any)[0].(map[string]any), "resourceNames")
		},
	},
	"the rules for its namespace are those of config/rbac/role.yaml": {
		func(t *testing.T, b *Bundle) error {
			return want(roleOf(t, "cnat-manager-leader"), b.granted("permissions"))
		},
		func(b *Bundle) {
			b.permissions("permissions")["rules"].([]any)[0].(map[string]any)["verbs"] = []any{"*"}
		},
	},
	"the account of the Deployment has the permissions, and OLM creates it": {
		func(_ *testing.T, b *Bundle) error {
			account, _, _ := unstructured.NestedString(b.deployment(), "spec", "template", "spec", "serviceAccountName")
			if _, err := b.Objects.named("ServiceAccount", account); err == nil {
				return fmt.Errorf("the bundle has the ServiceAccount %s", account)
			}
			return want([]any{account, account}, []any{b.permissions("permissions")["serviceAccountName"], b.permissions("clusterPermissions")["serviceAccountName"]})
		},
		func(b *Bundle) { b.permissions("permissions")["serviceAccountName"] = "default" },
	},
	"it names each image that it runs": {
		func(_ *testing.T, b *Bundle) error {
			containers, _, _ := unstructured.NestedSlice(b.deployment(), "spec", "template", "spec", "containers")
			images, _, _ := unstructured.NestedSlice(b.CSV.Object, "spec", "relatedImages")
			return want(containers[0].(map[string]any)["image"], images[0].(map[string]any)["image"])
		},
		func(b *Bundle) { b.set([]any{map[string]any{"image": "cnat-manager:latest"}}, "spec", "relatedImages") },
	},
	"the icon is a picture of the type that it names": {
		func(_ *testing.T, b *Bundle) error {
			icons, _, _ := unstructured.NestedSlice(b.CSV.Object, "spec", "icon")
			icon, err := base64.StdEncoding.DecodeString(icons[0].(map[string]any)["base64data"].(string))
			if err != nil {
				return err
			}
			var picture struct{ XMLName xml.Name }
			if err := xml.Unmarshal(icon, &picture); err != nil {
				return err
			}
			return want("svg image/svg+xml", picture.XMLName.Local+" "+icons[0].(map[string]any)["mediatype"].(string))
		},
		func(b *Bundle) {
			b.set([]any{map[string]any{"base64data": "PHN2Zz4=", "mediatype": "image/svg+xml"}}, "spec", "icon")
		},
	},
	"each install mode is there once": {
		func(_ *testing.T, b *Bundle) error {
			modes, _, _ := unstructured.NestedSlice(b.CSV.Object, "spec", "installModes")
			var types []string
			for _, mode := range modes {
				types = append(types, mode.(map[string]any)["type"].(string))
			}
			slices.Sort(types)
			return want([]string{"AllNamespaces", "MultiNamespace", "OwnNamespace", "SingleNamespace"}, types)
		},
		func(b *Bundle) {
			b.set([]any{map[string]any{"type": "AllNamespaces", "supported": true}}, "spec", "installModes")
		},
	},
	"no object has a namespace": {
		func(_ *testing.T, b *Bundle) error {
			for _, object := range append(b.Objects, b.CSV) {
				if object.GetNamespace() != "" {
					return fmt.Errorf("%s %s has", object.GetKind(), object.GetName())
				}
			}
			return nil
		},
		func(b *Bundle) { b.Objects[0].SetNamespace("cnat-system") },
	},
	"OLM knows each kind": {
		func(_ *testing.T, b *Bundle) error {
			for _, object := range b.Objects {
				if !slices.Contains(supported, object.GetKind()) {
					return fmt.Errorf("not the kind of the %s %s", object.GetKind(), object.GetName())
				}
			}
			return nil
		},
		func(b *Bundle) { b.Objects[0].SetKind("ValidatingAdmissionPolicy") },
	},
	"it fits into a ConfigMap": {
		func(_ *testing.T, b *Bundle) error {
			files, err := b.Files()
			size := 0
			for _, content := range files {
				size += len(content)
			}
			if err == nil && size >= 1<<20 {
				err = fmt.Errorf("it has %d bytes", size)
			}
			return err
		},
		func(b *Bundle) { b.set(strings.Repeat("x", 1<<20), "spec", "description") },
	},
}

func TestTheBundlesKeepTheRules(t *testing.T) {
	for _, release := range releases {
		manifests := built(t, release.Version)
		for sentence, rule := range rules {
			t.Run(release.Version+": "+sentence, func(t *testing.T) {
				b, err := New(readBase(t), manifests, release)
				require.NoError(t, err)
				require.NoError(t, rule.check(t, b))
				rule.broken(b)
				assert.Error(t, rule.check(t, b), "the rule does not find what is broken")
			})
		}
	}
}

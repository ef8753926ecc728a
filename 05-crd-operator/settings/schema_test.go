package settings

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

func TestTheServerRefusesABadLayer(t *testing.T) {
	w := sharedWorld(t)
	const badKey = "a key of data is not one that a ConfigMap can have: letters, digits, -, _ and ., at most 253 of them, and not .. in front"
	const tooLarge = "the values of data are larger than 1 MiB, which is all that a ConfigMap can hold"
	for name, tc := range map[string]struct {
		data data
		want string // empty if all is well
	}{
		"no data":                  {nil, ""},
		"all letters":              {data{"-._aZ9": ""}, ""},
		"a key of 253 characters":  {data{text(253): ""}, ""},
		"a key of 254 characters":  {data{text(254): ""}, badKey},
		"an empty key":             {data{"": ""}, badKey},
		"a slash":                  {data{"a/b": ""}, badKey},
		"a space":                  {data{"a b": ""}, badKey},
		"a letter of other lands":  {data{"ü": ""}, badKey},
		"a line break at the end":  {data{"a\n": ""}, badKey},
		"this folder":              {data{".": ""}, badKey},
		"the folder above":         {data{"..": ""}, badKey},
		"a way out of the folder":  {data{"..a": ""}, badKey},
		"a file that hides":        {data{".a": ""}, ""},
		"256 keys":                 {keys(256), ""},
		"257 keys":                 {keys(257), "must have at most 256 items"},
		"exactly 1 MiB":            {data{"a": text(1 << 19), "b": text(1 << 19)}, ""},
		"one byte more than 1 MiB": {data{"a": text(1 << 19), "b": text(1<<19 + 1)}, tooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			layer := aLayer("tried", 0, 0, tc.data)
			layer.Namespace = "default"
			layer.UID = ""
			err := w.admin.Create(t.Context(), layer, client.DryRunAll)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			assert.True(t, apierrors.IsInvalid(err), "%v", err)
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

// TestEveryKeyThatTheSchemaAdmitsSuitsAConfigMap compares the schema with the
// server's own opinion, for each ASCII character, and where it stands.
func TestEveryKeyThatTheSchemaAdmitsSuitsAConfigMap(t *testing.T) {
	w := sharedWorld(t)
	s := w.newEnv(t, "keys")
	for c := range 128 {
		for _, key := range []string{string(rune(c)), "a" + string(rune(c)), string(rune(c)) + "a"} {
			layer := aLayer("tried", 0, 0, data{key: ""})
			layer.Namespace, layer.UID = s.name, ""
			byLayer := w.admin.Create(t.Context(), layer, client.DryRunAll)
			settings := s.settings()
			settings.Data = data{key: ""}
			byConfigMap := w.admin.Create(t.Context(), settings, client.DryRunAll)
			assert.Equal(t, byConfigMap == nil, byLayer == nil, "%q: %v, but %v", key, byConfigMap, byLayer)
		}
	}
}

// TestOtherCRDs has a cluster of its own, because it changes the CRDs.
func TestOtherCRDs(t *testing.T) {
	c := testcluster.Start(t)
	t.Run("there is none", func(t *testing.T) { withoutTheCRD(t, c) })
	t.Run("a layer is older than its schema", func(t *testing.T) { olderLayer(t, c) })
}

// olderLayer shows a layer that got past admission: it is left out, and reports that, and
// the others are merged.
func olderLayer(t *testing.T, c *testcluster.Cluster) {
	w := newWorld(t, c)
	good := testcluster.ReadCRDs(t, "../config/crd")
	older := testcluster.ReadCRDs(t, "../config/crd")
	for _, crd := range older {
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		d, ok := spec.Properties["data"]
		if !ok {
			continue
		}
		d.XValidations, d.MaxProperties = nil, nil
		spec.Properties["data"] = d
	}
	w.InstallCRDs(t, older...)
	s := w.newEnv(t, "old")
	bad := aLayer("bad", 1, 0, data{"no/slash": "x", "colour": "red"})
	bad.Namespace, bad.UID = s.name, ""
	require.Eventually(t, func() bool { return w.admin.Create(t.Context(), bad) == nil }, testcluster.TestTimeout, 20*time.Millisecond)
	s.layer("defaults", 0, data{"colour": "blue"})
	w.InstallCRDs(t, good...)

	s.start()
	s.becomes(state{"settings": "colour=blue; of bad, defaults", "bad": "False InvalidKey 1", "defaults": "True Merged 1"})
}

// TestEveryFieldIsExplained reads the CRD as kubectl explain does.
func TestEveryFieldIsExplained(t *testing.T) {
	for _, crd := range testcluster.ReadCRDs(t, "../config/crd") {
		if crd.Spec.Group == v1alpha1.GroupName {
			explained(t, crd.Spec.Names.Kind, *crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
		}
	}
}

func explained(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for name, field := range schema.Properties {
		here := path + "." + name
		if strings.Count(here, ".") > 1 || name == "spec" || name == "status" {
			assert.True(t, strings.HasSuffix(field.Description, "."), "%s: %q", here, field.Description)
		}
		explained(t, here, field)
		if field.Items != nil && name != "conditions" { // those have their own words
			explained(t, here+"[]", *field.Items.Schema)
		}
	}
}

func keys(n int) data {
	d := data{}
	for i := range n {
		d[fmt.Sprintf("key-%d", i)] = ""
	}
	return d
}

package settings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

func TestTheServerRefusesABadLayer(t *testing.T) {
	s := newEnv(t)
	const badKey = "a key of data is not one that a ConfigMap can have: letters, digits, -, _ and ., at most 253 of them, and not .. in front"
	const tooLarge = "the values of data are larger than 1 MiB, which is all that a ConfigMap can hold"
	for name, tc := range map[string]struct {
		data data
		want string // empty if all is well
	}{
		"no data":                  {nil, ""},
		"a key of 253 characters":  {data{text(253): ""}, ""},
		"a key of 254 characters":  {data{text(254): ""}, badKey},
		"an empty key":             {data{"": ""}, badKey},
		"a letter of other lands":  {data{"ü": ""}, badKey},
		"the folder above":         {data{"..": ""}, badKey},
		"a way out of the folder":  {data{"..a": ""}, badKey},
		"256 keys":                 {keys(256), ""},
		"257 keys":                 {keys(257), "must have at most 256 items"},
		"exactly 1 MiB":            {data{"a": text(1 << 19), "b": text(1 << 19)}, ""},
		"one byte more than 1 MiB": {data{"a": text(1 << 19), "b": text(1<<19 + 1)}, tooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			err := tried(s, tc.data)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			assert.True(t, apierrors.IsInvalid(err), "%v", err)
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

// tried is what the server says to a layer with this data, without storing it.
func tried(s *env, d data) error {
	layer := aLayer("tried", 0, 0, d)
	layer.Namespace, layer.UID = s.namespace, ""
	return s.admin.Create(s.t.Context(), layer, client.DryRunAll)
}

func keys(n int) data {
	d := data{}
	for i := range n {
		d[fmt.Sprintf("key-%d", i)] = ""
	}
	return d
}

// TestEveryKeyThatTheSchemaAdmitsSuitsAConfigMap compares the schema with the server's own
// opinion, for each ASCII character, and where it stands.
func TestEveryKeyThatTheSchemaAdmitsSuitsAConfigMap(t *testing.T) {
	s := newEnv(t)
	for c := range 128 {
		for _, key := range []string{string(rune(c)), "a" + string(rune(c)), string(rune(c)) + "a"} {
			settings := s.settings()
			settings.Data = data{key: ""}
			byLayer, byConfigMap := tried(s, settings.Data), s.admin.Create(t.Context(), settings, client.DryRunAll)
			assert.Equal(t, byConfigMap == nil, byLayer == nil, "%q: %v, but %v", key, byConfigMap, byLayer)
		}
	}
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

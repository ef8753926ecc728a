//go:build try

package v1alpha1

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1beta1"
)

func TestTryTheEclipseIsKept(t *testing.T) {
	const sent = `{"flashes":["1s"],"count":1,"eclipse":"3s"}`
	before, spoke, after := &v1beta1.Lighthouse{}, &Lighthouse{}, &v1beta1.Lighthouse{}
	require.NoError(t, json.Unmarshal([]byte(sent), &before.Spec.Character))
	require.NoError(t, spoke.ConvertFrom(before))
	require.NoError(t, spoke.ConvertTo(after))
	got, err := json.Marshal(after.Spec.Character)
	require.NoError(t, err)
	assert.JSONEq(t, sent, string(got), "the eclipse was lost")

	got, err = json.Marshal(of(1, time.Second))
	require.NoError(t, err)
	assert.JSONEq(t, `{"flashes":["1s"],"count":1}`, string(got), "without an eclipse nothing is sent")
}

func TestTryOnlyWhatV1beta1TakesIsRestored(t *testing.T) {
	for kept, flash := range map[string]string{
		`{"flashes":["-5s"],"count":1}`:                                   "short",
		`{"flashes":["0s"],"count":1}`:                                    "short",
		`{"flashes":["1m"],"count":1}`:                                    "long",
		`{"flashes":["700ms"],"count":100000}`:                            strings.TrimSpace(strings.Repeat("short ", 12)),
		`{"flashes":[` + strings.Repeat(`"1s",`, 12) + `"1s"],"count":1}`: strings.TrimSpace(strings.Repeat("long ", 13)),
	} {
		light, hub := &Lighthouse{Spec: LighthouseSpec{Flash: flash}}, &v1beta1.Lighthouse{}
		light.Annotations = map[string]string{Kept: kept}
		require.NoError(t, light.ConvertTo(hub))
		assert.Equal(t, character(flash), hub.Spec.Character, "it restored what v1beta1 would refuse: %s", kept)
	}
	for kept, flash := range map[string]string{
		`{"flashes":["700ms"],"count":12}`:  strings.TrimSpace(strings.Repeat("short ", 12)),
		`{"flashes":["59.999s"],"count":1}`: "long",
	} {
		light, hub := &Lighthouse{Spec: LighthouseSpec{Flash: flash}}, &v1beta1.Lighthouse{}
		light.Annotations = map[string]string{Kept: kept}
		require.NoError(t, light.ConvertTo(hub))
		got, err := json.Marshal(hub.Spec.Character)
		require.NoError(t, err)
		assert.JSONEq(t, kept, string(got), "it lost what v1beta1 takes")
	}
}

func TestTryV1alpha1IsDeprecated(t *testing.T) {
	source, err := os.ReadFile("lighthouse.go")
	require.NoError(t, err)
	content, err := os.ReadFile("../../config/versions/coast.example.com_lighthouses.yaml")
	require.NoError(t, err)
	var crd apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.Unmarshal(content, &crd))
	assert.Contains(t, string(source), "+kubebuilder:deprecatedversion", "the Go type has no marker")
	for _, version := range crd.Spec.Versions {
		assert.Equal(t, version.Name == "v1alpha1", version.Deprecated, "deprecated: %s", version.Name)
		if version.Name == "v1alpha1" {
			assert.Contains(t, fmt.Sprint(ptr(version.DeprecationWarning)), "v1beta1", "a warning names what to use instead")
		}
	}
}

// ptr is the text that a pointer leads to, if any.
func ptr(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

package e2e

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	settings "example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/05-crd-operator/internal/testcluster"
)

func settingsAreRestored(s *scene) {
	s.start()
	s.createLayers()
	merged := map[string]string{"colour": "green", "log-level": "debug", "greeting": "Good day"}
	maps := s.client.CoreV1().ConfigMaps(s.namespace)
	becomesMerged := func() (uid types.UID) {
		s.t.Helper()
		require.EventuallyWithT(s.t, func(t *assert.CollectT) {
			got, err := maps.Get(s.t.Context(), "settings", metav1.GetOptions{})
			if assert.NoError(t, err) && assert.Equal(t, merged, got.Data) {
				uid = got.UID
			}
		}, testcluster.TestTimeout, pause)
		return uid
	}
	first := becomesMerged()

	require.NoError(s.t, maps.Delete(s.t.Context(), "settings", metav1.DeleteOptions{}))
	second := becomesMerged()
	assert.NotEqual(s.t, first, second)

	edit := []byte(`{"data":{"colour":"red","greeting":null}}`)
	_, err := maps.Patch(s.t.Context(), "settings", types.MergePatchType, edit, metav1.PatchOptions{})
	require.NoError(s.t, err)
	assert.Equal(s.t, second, becomesMerged(), "restored, and not replaced")
}

// createLayers creates the sample.
func (s *scene) createLayers() {
	s.t.Helper()
	content, err := os.ReadFile("../config/samples/settings.yaml")
	require.NoError(s.t, err)
	layers := versioned.NewForConfigOrDie(s.config).SettingsV1alpha1().SettingsLayers(s.namespace)
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var layer settings.SettingsLayer
		err := documents.Decode(&layer)
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(s.t, err)
		_, err = layers.Create(s.t.Context(), &layer, metav1.CreateOptions{})
		require.NoError(s.t, err)
	}
}

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	settings "example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/testcluster"
)

// becomesMerged waits until the ConfigMap is what the sample comes to, and returns its UID.
func (s *env) becomesMerged() (uid types.UID) {
	s.t.Helper()
	merged := map[string]string{"colour": "green", "log-level": "debug", "greeting": "Good day"}
	require.EventuallyWithT(s.t, func(t *assert.CollectT) {
		got, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(s.t.Context(), "settings", metav1.GetOptions{})
		if assert.NoError(t, err) && assert.Equal(t, merged, got.Data) {
			uid = got.UID
		}
	}, testcluster.TestTimeout, pause)
	return uid
}

// aWorkloadReadsTheHealedValue edits the ConfigMap while no operator runs, so that the
// workload has the time to see it.
func aWorkloadReadsTheHealedValue(s *env) {
	content, err := os.ReadFile("../lesson/reader.yaml")
	require.NoError(s.t, err)
	var reader corev1.Pod
	require.NoError(s.t, yaml.Unmarshal(content, &reader))
	kill := s.start()
	s.createLayers()
	s.becomesMerged()
	_, err = s.client.CoreV1().Pods(s.namespace).Create(s.t.Context(), &reader, metav1.CreateOptions{})
	require.NoError(s.t, err)
	const good = "colour:green greeting:Good day log-level:debug\n"
	s.reads(good)

	kill()
	edit := []byte(`{"data":{"colour":"red"}}`)
	_, err = s.client.CoreV1().ConfigMaps(s.namespace).Patch(s.t.Context(), "settings", types.MergePatchType, edit, metav1.PatchOptions{})
	require.NoError(s.t, err)
	const forged = "colour:red greeting:Good day log-level:debug\n"
	s.reads(good + forged)

	s.start()
	s.reads(good + forged + good)
}

// reads waits until the reader has printed this. The kubelet updates the volumes of a pod
// that has changed at once, and else within a minute.
func (s *env) reads(want string) {
	s.t.Helper()
	pods := s.client.CoreV1().Pods(s.namespace)
	i := 0
	require.EventuallyWithT(s.t, func(t *assert.CollectT) {
		i++
		refresh := fmt.Appendf(nil, `{"metadata":{"annotations":{"refresh":"%d"}}}`, i)
		_, err := pods.Patch(s.t.Context(), "reader", types.MergePatchType, refresh, metav1.PatchOptions{})
		assert.NoError(t, err)
		log, err := pods.GetLogs("reader", &corev1.PodLogOptions{}).DoRaw(s.t.Context())
		assert.NoError(t, err)
		assert.Equal(t, want, string(log))
	}, testcluster.TestTimeout, 500*time.Millisecond)
}

// createLayers creates the sample.
func (s *env) createLayers() {
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

package e2e

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/testcluster"
)

// becomesMerged waits until the ConfigMap is what the sample comes to.
func (s *env) becomesMerged() {
	s.t.Helper()
	merged := map[string]string{"colour": "green", "log-level": "debug", "greeting": "Good day"}
	require.EventuallyWithT(s.t, func(t *assert.CollectT) {
		got, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(s.t.Context(), "settings", metav1.GetOptions{})
		assert.NoError(t, err)
		assert.Equal(t, merged, got.Data)
	}, testcluster.TestTimeout, pause)
}

// aWorkloadReadsTheHealedValue edits the ConfigMap while no operator runs, so that the
// workload has the time to see it.
func aWorkloadReadsTheHealedValue(s *env) {
	kill := s.start()
	s.apply("../config/samples/settings.yaml")
	s.becomesMerged()
	s.apply("../lesson/reader.yaml")
	const good = "colour:green greeting:Good day log-level:debug\n"
	s.reads(good)

	kill()
	edit := []byte(`{"data":{"colour":"red"}}`)
	_, err := s.client.CoreV1().ConfigMaps(s.namespace).Patch(s.t.Context(), "settings", types.MergePatchType, edit, metav1.PatchOptions{})
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

package e2e

import (
	"os/exec"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// prints compares with the book, and with the shell of this machine.
func prints(s *env) {
	commands := map[string]string{
		"quotes": `printf '%s\n' "two  words" 'and $HOME' | tr a-z A-Z | sed 's/ /_/g'`,
		"lines":  "for i in 1 2 3; do\n  echo \"$i\"\ndone",
		"long":   "# " + strings.Repeat("x", 100<<10) + "\necho 100 KiB",
	}
	s.start()
	s.createSample()
	for name, command := range commands {
		s.create(name, command)
	}
	at := s.becomes("example-at", cnat.Done)
	assert.Equal(s.t, "YAY\n", s.logs("example-at"))
	assert.Equal(s.t, new(int32(0)), at.Status.ExitCode)
	assert.False(s.t, at.Status.CompletionTime.Before(at.Status.StartTime))
	for name, command := range commands {
		want, err := exec.CommandContext(s.t.Context(), "sh", "-c", command).Output()
		require.NoError(s.t, err)
		assert.Equal(s.t, "Complete Succeeded", outcome(s.becomes(name, cnat.Done)))
		assert.Equal(s.t, string(want), s.logs(name))
	}
}

// failsAndDeletes also shows what becomes of the pod when the At is deleted.
func failsAndDeletes(s *env) {
	s.start()
	s.create("kettle", "echo again; exit 3")
	s.podBecomes("kettle", func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) == 1 && pod.Status.ContainerStatuses[0].RestartCount > 0
	})
	s.becomes("kettle", cnat.Running)
	require.NoError(s.t, s.ats.Delete(s.t.Context(), "kettle", metav1.DeleteOptions{}))
	s.goes("kettle")
}

func podDeleted(s *env) {
	s.start()
	s.create("kettle", "sleep 600")
	s.podBecomes("kettle", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
	require.NoError(s.t, s.client.CoreV1().Pods(s.namespace).Delete(s.t.Context(), "kettle-pod", metav1.DeleteOptions{}))
	assert.Equal(s.t, "Failed PodDeleted", outcome(s.becomes("kettle", cnat.Done)))
	s.goes("kettle")
	// An At that comes later is done when this one has long been reconciled.
	s.create("later", "echo YAY")
	s.becomes("later", cnat.Done)
	s.goes("kettle")
}

// podBecomes waits until the pod of an At is such a one.
func (s *env) podBecomes(at string, such func(*corev1.Pod) bool) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		pod, err := s.client.CoreV1().Pods(s.namespace).Get(s.t.Context(), at+"-pod", metav1.GetOptions{})
		return err == nil && such(pod)
	}, testcluster.TestTimeout, pause)
}

// goes waits until there is no pod of an At.
func (s *env) goes(at string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		_, err := s.client.CoreV1().Pods(s.namespace).Get(s.t.Context(), at+"-pod", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, testcluster.TestTimeout, pause, "the pod of %s is still there", at)
}

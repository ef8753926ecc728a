package e2e

import (
	"os/exec"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

func printsYAY(s *env) {
	s.start()
	s.apply("../config/samples/at.yaml")
	at := s.becomes("example-at", cnat.Done)
	assert.Equal(s.t, "Complete Succeeded", outcome(at))
	assert.Equal(s.t, "YAY\n", s.prints("example-at"))
	require.NotNil(s.t, at.Status.ExitCode)
	assert.Zero(s.t, *at.Status.ExitCode)
	assert.False(s.t, at.Status.CompletionTime.Before(at.Status.StartTime))
}

// isAShell compares with the shell of this machine.
func isAShell(s *env) {
	commands := map[string]string{
		"quotes": `printf '%s\n' "two  words" 'and $HOME' | tr a-z A-Z | sed 's/ /_/g'`,
		"lines":  "for i in 1 2 3; do\n  echo \"$i\"\ndone",
		"long":   "# " + strings.Repeat("x", 100<<10) + "\necho 100 KiB",
	}
	s.start()
	for name, command := range commands {
		s.create(name, long, command)
	}
	for name, command := range commands {
		want, err := exec.CommandContext(s.t.Context(), "sh", "-c", command).Output()
		require.NoError(s.t, err)
		assert.Equal(s.t, "Complete Succeeded", outcome(s.becomes(name, cnat.Done)))
		assert.Equal(s.t, string(want), s.prints(name))
	}
}

// failsAndDeletes also shows what becomes of the pod when the At is deleted.
func failsAndDeletes(s *env) {
	s.start()
	s.create("kettle", long, "echo again; exit 3")
	s.becomes("kettle", cnat.Running)
	require.Eventually(s.t, func() bool {
		pods := s.pods.of("kettle")
		return len(pods) == 1 && len(pods[0].Status.ContainerStatuses) == 1 && pods[0].Status.ContainerStatuses[0].RestartCount > 0
	}, testcluster.TestTimeout, pause)
	assert.Equal(s.t, cnat.Running, s.becomes("kettle", cnat.Running).Status.Phase)

	require.NoError(s.t, s.ats.Delete(s.t.Context(), "kettle", metav1.DeleteOptions{}))
	s.goes("kettle")
	assert.Len(s.t, s.pods.of("kettle"), 1)
}

// goes waits until all pods of an At are gone.
func (s *env) goes(name string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		for _, pod := range s.pods.of(name) {
			if pod.Status.Reason != gone {
				return false
			}
		}
		return true
	}, testcluster.TestTimeout, pause, "the pods of %s are still there", name)
}

// namespaceGoes holds an At back in a namespace that is being deleted, until
// after it was due.
func namespaceGoes(s *env) {
	s.start()
	_, later := in(time.Hour)
	s.create("kettle", later, "echo YAY")
	s.becomes("kettle", cnat.Pending)
	s.finalizers("kettle", `["example.com/hold"]`)
	require.NoError(s.t, s.client.CoreV1().Namespaces().Delete(s.t.Context(), s.namespace, metav1.DeleteOptions{}))
	require.Eventually(s.t, func() bool {
		at, err := s.ats.Get(s.t.Context(), "kettle", metav1.GetOptions{})
		return err == nil && at.DeletionTimestamp != nil
	}, testcluster.TestTimeout, pause)
	// Only now it is to be due soon, and then it is.
	<-time.After(time.Until(s.schedule("kettle", 2*time.Second)))
	_, err := s.ats.Create(s.t.Context(), &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Name: "new"}, Spec: cnat.AtSpec{Schedule: long, Command: "echo YAY"},
	}, metav1.CreateOptions{})
	assert.True(s.t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), "%v", err)

	s.finalizers("kettle", "null")
	require.Eventually(s.t, func() bool {
		_, err := s.client.CoreV1().Namespaces().Get(s.t.Context(), s.namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, testcluster.TestTimeout, pause)
	assert.Empty(s.t, s.pods.of("kettle"))
}

func (s *env) finalizers(name, list string) {
	s.t.Helper()
	_, err := s.ats.Patch(s.t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":`+list+`}}`), metav1.PatchOptions{})
	require.NoError(s.t, err)
}

func podDeleted(s *env) {
	s.start()
	s.create("kettle", long, "sleep 600")
	s.becomes("kettle", cnat.Running)
	require.Eventually(s.t, func() bool {
		pods := s.pods.of("kettle")
		return len(pods) == 1 && pods[0].Status.Phase == corev1.PodRunning
	}, testcluster.TestTimeout, pause)
	require.NoError(s.t, s.client.CoreV1().Pods(s.namespace).Delete(s.t.Context(), "kettle-pod", metav1.DeleteOptions{}))
	assert.Equal(s.t, "Failed PodDeleted", outcome(s.becomes("kettle", cnat.Done)))
	s.goes("kettle")

	// An At that comes later is done when this one has long been reconciled.
	s.create("later", long, "echo YAY")
	s.becomes("later", cnat.Done)
	assert.Len(s.t, s.pods.of("kettle"), 1)
}

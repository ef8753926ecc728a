package testcluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CreatePod creates a pod, and its namespace if there is none, on an API server that may be starting. The status
// of a pod that has a start time is written as its kubelet would write it.
func (c *Cluster) CreatePod(t testing.TB, pod *corev1.Pod) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox"}}
	pods := c.Client.CoreV1().Pods(pod.Namespace)
	var created *corev1.Pod
	require.Eventually(t, func() bool {
		_, err := c.Client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) {
			created, err = pods.Create(t.Context(), pod, metav1.CreateOptions{})
		}
		return err == nil
	}, TestTimeout, 20*time.Millisecond)
	if pod.Status.StartTime != nil {
		created.Status = pod.Status
		_, err := pods.UpdateStatus(t.Context(), created, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
}

// DeletePod deletes a pod at once: no kubelet has to stop it first.
func (c *Cluster) DeletePod(t testing.TB, namespace, name string) {
	t.Helper()
	require.NoError(t, c.Client.CoreV1().Pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
}

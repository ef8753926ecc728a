package layers_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/controllerruntime"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/testcluster"
)

// newServerClient returns a client of a real API server that knows Ats. What a test
// creates there is deleted when it ends.
func newServerClient(t *testing.T) client.Client {
	t.Helper()
	cluster := testcluster.Shared(t)
	cluster.InstallCRDs(t, testcluster.ReadCRDs(t, "../config/crd")...)
	c, err := client.New(cluster.Config, client.Options{Scheme: newScheme(t)})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		assert.NoError(t, c.DeleteAllOf(ctx, &cnat.At{}, client.InNamespace(metav1.NamespaceDefault)))
		assert.NoError(t, c.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(metav1.NamespaceDefault), client.GracePeriodSeconds(0)))
	})
	return c
}

func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	require.Eventually(t, condition, testcluster.TestTimeout, 10*time.Millisecond, what)
}

// The whole operator, with its watches. The test is the kubelet.
func TestEnvtest(t *testing.T) {
	c := newServerClient(t)
	testcluster.Run(t, func(ctx context.Context) error {
		return controllerruntime.Run(klog.NewContext(ctx, logr.Discard()), testcluster.Shared(t).Config, controllerruntime.Options{})
	})

	require.NoError(t, c.Create(t.Context(), newAt(past)))
	pod := newPod()
	eventually(t, func() bool { return c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod) == nil }, "the pod")
	pod.Status.Phase = corev1.PodSucceeded
	require.NoError(t, c.Status().Update(t.Context(), pod))
	eventually(t, func() bool { return phase(t, c) == cnat.Done }, "DONE")
	eventually(t, func() bool {
		return c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod) == nil && len(pod.Finalizers) == 0
	}, "the pod without its finalizer")
}

func TestWhatTheAPIServerAnswers(t *testing.T) {
	for name, difference := range differences {
		t.Run(name, func(t *testing.T) {
			got := difference.do(t.Context(), newServerClient(t))
			t.Log(got)
			assert.Contains(t, got, difference.server)
		})
	}
}

// An API server only stores objects. All that happens to them afterwards is done by other
// programs, and here there are none.
func TestNothingHappensToAPod(t *testing.T) {
	c := newServerClient(t)
	at := newAt(past)
	require.NoError(t, c.Create(t.Context(), at))
	pod := newPod()
	pod.OwnerReferences = lifecycle.DesiredPod(at, lifecycle.DefaultImage).OwnerReferences
	require.NoError(t, c.Create(t.Context(), pod))
	require.NoError(t, c.Delete(t.Context(), at))

	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	assert.Equal(t, corev1.PodPending, pod.Status.Phase)
	assert.Nil(t, pod.DeletionTimestamp, "its owner is gone")
	// Would it happen later? No: there is no node, and nobody leads as scheduler or as
	// controller manager.
	nodes := &corev1.NodeList{}
	require.NoError(t, c.List(t.Context(), nodes))
	assert.Empty(t, nodes.Items)
	for _, component := range []string{"kube-scheduler", "kube-controller-manager"} {
		err := c.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: component}, &coordinationv1.Lease{})
		assert.True(t, apierrors.IsNotFound(err), component)
	}
}

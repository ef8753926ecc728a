// Package layers_test tests one behaviour in each of the ways in which operators are
// tested: an At whose time has come gets a pod, and is DONE when that has ended.
//
//	decide_test.go     the decision: a pure function
//	fake_test.go       Reconcile, called by the test, on a fake client
//	synctest_test.go   the queue around it, in fake time
//	envtest_test.go    the manager around that, on a real API server
//
// What is above these is package e2e, in which pods run.
package layers_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/controllerruntime"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

const past = "2019-04-12T10:12:00Z"

func newAt(schedule string) *cnat.At {
	return &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "yay"},
		Spec:       cnat.AtSpec{Schedule: schedule, Command: "echo YAY"},
	}
}

// newPod is a pod such as the operator creates, without an owner and a finalizer.
func newPod() *corev1.Pod {
	pod := lifecycle.DesiredPod(newAt(past), lifecycle.DefaultImage)
	pod.OwnerReferences, pod.Finalizers = nil, nil
	return pod
}

// request is for the At of newAt.
func request() ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKeyFromObject(newAt(""))}
}

// newReconciler returns the Reconciler of the program, on a client without a cache.
func newReconciler(c client.Client) reconcile.Reconciler {
	return around(&controllerruntime.Reconciler{Client: c, Live: c, Events: events.NewFakeRecorder(10), Clock: clock.RealClock{}})
}

// around returns the right operator. try_test.go makes wrong ones of it.
var around = func(r reconcile.Reconciler) reconcile.Reconciler { return r }

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, controllerruntime.AddToScheme(scheme))
	require.NoError(t, coordinationv1.AddToScheme(scheme))
	return scheme
}

// phase is how far the At has got.
func phase(t *testing.T, c client.Client) cnat.AtPhase {
	t.Helper()
	at := &cnat.At{}
	require.NoError(t, c.Get(t.Context(), request().NamespacedName, at))
	return at.Status.Phase
}

// createRunningAt creates an At whose pod is the next step.
func createRunningAt(t *testing.T, c client.Client) {
	t.Helper()
	at := newAt(past)
	require.NoError(t, c.Create(t.Context(), at))
	at.Status.Phase = cnat.Running
	require.NoError(t, c.Status().Update(t.Context(), at))
}

func hasPod(t *testing.T, c client.Client) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKeyFromObject(newPod()), newPod())
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}

//go:build try

package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// What the lesson of part 1 asks the reader to write. Until then, these tests fail. The objects are in
// memory, for the sake of a verdict within seconds.

func harbourAt(phase cnat.AtPhase) *cnat.At {
	return &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: "harbour", Name: "bell", UID: "1"},
		Spec:       cnat.AtSpec{Schedule: "2019-04-12T10:12:00Z", Command: `echo "it's" | tr a-z A-Z`},
		Status:     cnat.AtStatus{Phase: phase},
	}
}

// reconcileOnce reconciles an At, where these objects are, too.
func reconcileOnce(t *testing.T, at *cnat.At, others ...client.Object) (client.Client, error) {
	t.Helper()
	all := runtime.NewScheme()
	require.NoError(t, scheme.AddToScheme(all))
	require.NoError(t, cnat.AddToScheme(all))
	objects := fake.NewClientBuilder().WithScheme(all).WithStatusSubresource(at).WithObjects(append(others, at)...).Build()
	r := &reconciler{objects}
	_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(at)})
	return objects, err
}

func phaseOf(t *testing.T, objects client.Client, at *cnat.At) cnat.AtPhase {
	t.Helper()
	require.NoError(t, objects.Get(context.WithoutCancel(t.Context()), client.ObjectKeyFromObject(at), at))
	return at.Status.Phase
}

func TestTryTheCommandIsALineForTheShell(t *testing.T) {
	at := harbourAt(cnat.Running)
	require.Equal(t, []string{"sh", "-c", at.Spec.Command}, desiredPod(at).Spec.Containers[0].Command)
}

func TestTryAScheduleThatIsNoTimeIsNotTriedAgain(t *testing.T) {
	at := harbourAt(cnat.Pending)
	at.Spec.Schedule = "tomorrow"
	_, err := reconcileOnce(t, at)
	require.ErrorContains(t, err, "reading the schedule")
	require.ErrorIs(t, err, reconcile.TerminalError(nil), "the error brings the key back")
}

func TestTryAPodOfAnotherOwnerIsAnError(t *testing.T) {
	kind := cnat.SchemeGroupVersion.WithKind("At")
	at, namesake := harbourAt(cnat.Running), harbourAt(cnat.Running)
	namesake.UID = "2" // an At of this name that was deleted, perhaps
	tests := map[string]struct {
		owners []metav1.OwnerReference
		phase  cnat.AtPhase
	}{
		"nobody":               {nil, cnat.Running},
		"an At with this name": {[]metav1.OwnerReference{*metav1.NewControllerRef(namesake, kind)}, cnat.Running},
		"this At":              {[]metav1.OwnerReference{*metav1.NewControllerRef(at, kind)}, cnat.Done},
	}
	for name, tc := range tests {
		t.Run("the pod belongs to "+name, func(t *testing.T) {
			at, pod := harbourAt(cnat.Running), desiredPod(at)
			pod.OwnerReferences = tc.owners
			pod.Status.Phase = corev1.PodSucceeded
			objects, err := reconcileOnce(t, at, pod)
			if tc.phase == cnat.Done {
				require.NoError(t, err, "its own pod has ended")
			} else {
				require.Error(t, err, "the pod of somebody else was taken for the At's own")
			}
			assert.Equal(t, tc.phase, phaseOf(t, objects, at))
		})
	}
}

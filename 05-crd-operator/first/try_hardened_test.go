//go:build try

package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// What the lesson of part 2 asks the reader to write into the page. Until then, these tests fail.

const trackingFinalizer = cnat.GroupName + "/tracking"

func TestTryThePodHasAFinalizer(t *testing.T) {
	require.Equal(t, []string{trackingFinalizer}, desiredPod(harbourAt(cnat.Running)).Finalizers)
}

func TestTryAPodMayGoOnceItsAtIsDone(t *testing.T) {
	tests := map[string]struct {
		phase cnat.AtPhase
		stays bool
	}{
		"the At is DONE":    {cnat.Done, false},
		"the At is RUNNING": {cnat.Running, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			at := harbourAt(tc.phase)
			pod := desiredPod(at)
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(at, cnat.SchemeGroupVersion.WithKind("At"))}
			pod.Finalizers = []string{trackingFinalizer, "example.com/keep"}
			objects, err := reconcileOnce(t, at, pod)
			require.NoError(t, err)
			require.NoError(t, objects.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
			if tc.stays {
				assert.Contains(t, pod.Finalizers, trackingFinalizer, "nobody has written down how the command ended")
			} else {
				assert.Equal(t, []string{"example.com/keep"}, pod.Finalizers, "the finalizer of the operator goes, and no other")
			}
		})
	}
	t.Run("the At is DONE and the pod is gone", func(t *testing.T) {
		_, err := reconcileOnce(t, harbourAt(cnat.Done))
		require.NoError(t, err, "there is nothing to let go")
	})
}

// frozenCache is a client whose cache doesn't hear of Ats any more.
type frozenCache struct {
	client.Client
	at *cnat.At
}

func (c frozenCache) Get(ctx context.Context, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
	if at, ok := object.(*cnat.At); ok {
		c.at.DeepCopyInto(at)
		return nil
	}
	return c.Client.Get(ctx, key, object, o...)
}

func TestTryNoPodIsCreatedFromAStaleCache(t *testing.T) {
	done := func(t *testing.T, objects client.Client, at *cnat.At) {
		at.Status.Phase = cnat.Done
		require.NoError(t, objects.Status().Update(t.Context(), at))
	}
	deleted := func(t *testing.T, objects client.Client, at *cnat.At) {
		require.NoError(t, objects.Delete(t.Context(), at))
	}
	tests := map[string]struct {
		meanwhile func(*testing.T, client.Client, *cnat.At)
		started   bool
	}{
		"it is DONE by now": {done, false},
		"it is deleted":     {deleted, false},
		"it is as it was":   {func(*testing.T, client.Client, *cnat.At) {}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			at := harbourAt(cnat.Pending) // in this phase, nothing is created
			at.Spec.Schedule = "2999-04-12T10:12:00Z"
			objects, err := reconcileOnce(t, at)
			require.NoError(t, err)
			require.Equal(t, cnat.Pending, phaseOf(t, objects, at))
			at.Status.Phase = cnat.Running
			require.NoError(t, objects.Status().Update(t.Context(), at))
			cache := frozenCache{objects, at.DeepCopy()}
			tc.meanwhile(t, objects, at)

			r := &reconciler{cache}
			_, err = r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(at)})

			created := objects.Get(t.Context(), client.ObjectKeyFromObject(desiredPod(at)), &corev1.Pod{})
			if tc.started {
				require.NoError(t, err)
				assert.NoError(t, created, "the At is due, and has no pod")
			} else {
				assert.True(t, apierrors.IsNotFound(created), "the pod was created on the word of a stale cache")
			}
		})
	}
}

func TestTryAScheduleThatIsNoTimeIsInTheStatus(t *testing.T) {
	at := harbourAt(cnat.Pending)
	at.Generation, at.Spec.Schedule = 3, "tomorrow"
	objects, err := reconcileOnce(t, at)
	require.NoError(t, err, "the user has to act, and not the log's reader")
	require.Equal(t, cnat.Pending, phaseOf(t, objects, at))
	c := meta.FindStatusCondition(at.Status.Conditions, cnat.Scheduled)
	require.NotNil(t, c, "the status has no condition Scheduled")
	assert.Equal(t, metav1.ConditionFalse, c.Status)
	assert.Equal(t, "InvalidSchedule", c.Reason)
	assert.Contains(t, c.Message, "tomorrow", "the message names what is wrong")
	assert.Equal(t, int64(3), c.ObservedGeneration, "the ObservedGeneration of the condition is the Generation of the At")

	version := at.ResourceVersion
	_, err = (&reconciler{objects}).Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(at)})
	require.NoError(t, err)
	phaseOf(t, objects, at)
	assert.Equal(t, version, at.ResourceVersion, "it was written again, although the user knows it already")
}

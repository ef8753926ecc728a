//go:build !try

package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func TestTheTypeHasTheFieldsOfTheManifest(t *testing.T) {
	content, err := os.ReadFile("eddystone.yaml")
	require.NoError(t, err)
	light := &Lighthouse{}
	require.NoError(t, yaml.UnmarshalStrict(content, light), "the type lacks a field of eddystone.yaml")
	assert.Equal(t, eddystone().Spec, light.Spec)
}

func eddystone() *Lighthouse {
	return &Lighthouse{
		ObjectMeta: metav1.ObjectMeta{Namespace: "coast", Name: "eddystone", UID: "1", Generation: 2},
		Spec:       LighthouseSpec{Lamps: 3, Flash: "short short"},
	}
}

func TestWhenItIsReady(t *testing.T) {
	for name, test := range map[string]struct {
		have    appsv1.DeploymentStatus
		want    metav1.ConditionStatus
		message string
	}{
		"all lamps burn":              {appsv1.DeploymentStatus{ObservedGeneration: 5, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3}, metav1.ConditionTrue, "3 of 3 lamps burn"},
		"one is dark":                 {appsv1.DeploymentStatus{ObservedGeneration: 5, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 2}, metav1.ConditionFalse, "2 of 3 lamps burn"},
		"one has the old flash":       {appsv1.DeploymentStatus{ObservedGeneration: 5, Replicas: 3, UpdatedReplicas: 2, ReadyReplicas: 3}, metav1.ConditionFalse, "3 of 3 lamps burn"},
		"an old one is still there":   {appsv1.DeploymentStatus{ObservedGeneration: 5, Replicas: 4, UpdatedReplicas: 3, ReadyReplicas: 3}, metav1.ConditionFalse, "3 of 3 lamps burn"},
		"the numbers are of long ago": {appsv1.DeploymentStatus{ObservedGeneration: 4, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3}, metav1.ConditionFalse, "3 of 3 lamps burn"},
	} {
		t.Run(name, func(t *testing.T) {
			light := eddystone()
			r := &reconciler{newSea(t, light)}
			require.NoError(t, r.report(t.Context(), light, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 5}, Status: test.have}))
			require.NoError(t, r.Get(t.Context(), client.ObjectKeyFromObject(light), light))
			assert.Equal(t, test.have.ReadyReplicas, light.Status.Burning)
			ready := meta.FindStatusCondition(light.Status.Conditions, "Ready")
			assert.Equal(t, test.want, ready.Status, "Ready, while the Deployment has %+v of generation 5", test.have)
			assert.Equal(t, test.message, ready.Message)
			assert.Equal(t, light.Generation, ready.ObservedGeneration, "which spec is it about? Not the one of the Deployment")
		})
	}
}

// The lamps of a Lighthouse come on one by one, and then its spec changes.
func TestTheReasonDoesNotFlap(t *testing.T) {
	light, since := eddystone(), metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	light.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Lighting", LastTransitionTime: since}}
	r := &reconciler{newSea(t, light)}
	report := func(burning int32) *metav1.Condition {
		t.Helper()
		require.NoError(t, r.Get(t.Context(), client.ObjectKeyFromObject(light), light))
		have := appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: burning}
		require.NoError(t, r.report(t.Context(), light, &appsv1.Deployment{Status: have}))
		require.NoError(t, r.Get(t.Context(), client.ObjectKeyFromObject(light), light))
		return meta.FindStatusCondition(light.Status.Conditions, "Ready")
	}
	for burning, reason := range []string{"Lighting", "Lighting", "Lighting", "Burning"} {
		ready := report(int32(burning))
		assert.Equal(t, reason, ready.Reason, "a reason is one word for one cause; numbers are for the message")
		if reason == "Lighting" {
			assert.True(t, since.Equal(&ready.LastTransitionTime), "it has been False all the time")
		}
	}
	light.Generation = 3
	require.NoError(t, r.Update(t.Context(), light))
	assert.Equal(t, int64(3), report(3).ObservedGeneration, "nothing else has changed, and still somebody waits for this number")
}

func TestTheSameStatusIsWrittenOnce(t *testing.T) {
	light := eddystone()
	s := newSea(t, light)
	for range 2 {
		require.NoError(t, (&reconciler{s}).report(t.Context(), light, &appsv1.Deployment{}))
	}
	assert.Equal(t, 1, s.writes, "nothing has changed since the first one")
}

//go:build try

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

// What the lesson on what the operator owns asks the reader to write. Until then, these tests fail.

// unlisted is a shore whose Lighthouse isn't in the Light List.
func unlisted(t *testing.T) *shore {
	t.Helper()
	s := newShore(t)
	s.change(func(light *v1alpha1.Lighthouse) { light.Spec.Position, light.Spec.SecretRef = "", nil })
	return s
}

func (s *shore) deployment() *appsv1.Deployment {
	s.Helper()
	deployment := &appsv1.Deployment{}
	require.NoError(s, s.Client.Get(s.Context(), client.ObjectKey{Namespace: "coast", Name: "eddystone"}, deployment))
	return deployment
}

// annotate sets the annotations of the Lighthouse.
func (s *shore) annotate(annotations map[string]string) {
	s.Helper()
	s.change(func(light *v1alpha1.Lighthouse) { light.Annotations = annotations })
}

func TestTryAnAnnotationRelightsTheLamps(t *testing.T) {
	s := unlisted(t)
	require.NoError(t, s.reconcile())
	require.Empty(t, s.deployment().Spec.Template.Annotations, "no Lighthouse has asked for it")
	deployment := s.deployment()
	deployment.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "today"}
	require.NoError(t, s.Update(t.Context(), deployment, client.FieldOwner("kubectl")))

	s.annotate(map[string]string{"coast.example.com/relight": "noon"})
	require.NoError(t, s.reconcile())
	require.Equal(t, map[string]string{"coast.example.com/relight": "noon", "kubectl.kubernetes.io/restartedAt": "today"}, s.deployment().Spec.Template.Annotations,
		"the pods don't have the annotation of the Lighthouse")
	require.NoError(t, s.reconcile())
	require.Equal(t, "noon", s.deployment().Spec.Template.Annotations["coast.example.com/relight"], "it doesn't stay")

	s.annotate(nil)
	require.NoError(t, s.reconcile())
	assert.Equal(t, map[string]string{"kubectl.kubernetes.io/restartedAt": "today"}, s.deployment().Spec.Template.Annotations,
		"what the operator no longer applies has to go, and what somebody else has set has to stay")
}

func TestTryAnAutoscalerOwnsTheReplicas(t *testing.T) {
	s := unlisted(t)
	s.annotate(map[string]string{"coast.example.com/autoscaled": "yes"})
	light := s.light()
	require.NoError(t, s.reconcile())
	require.Nil(t, s.deployment().Spec.Replicas, "it applies the number of replicas, which is the autoscaler's")
	require.NoError(t, s.reconcile()) // replicas that nobody has set are no panic

	scaled := s.deployment()
	scaled.Spec.Replicas = new(int32(5))
	require.NoError(t, s.Update(t.Context(), scaled, client.FieldOwner("autoscaler")))
	require.NoError(t, s.reconcile())
	require.EqualValues(t, 5, *s.deployment().Spec.Replicas, "it undoes what the autoscaler does")

	scaled = s.deployment()
	scaled.Status = appsv1.DeploymentStatus{ObservedGeneration: scaled.Generation, Replicas: 5, UpdatedReplicas: 5, ReadyReplicas: 5}
	is, _, message := summary(light, scaled, nil)
	assert.Equal(t, "Ready: 5 of 5 lamps burn", is+": "+message, "the autoscaler wants five, so Ready is five")

	s.annotate(nil)
	require.NoError(t, s.reconcile())
	assert.EqualValues(t, 3, *s.deployment().Spec.Replicas, "without the annotation the number is that of the spec")
}

func TestTryARolloutThatIsStuckIsStalled(t *testing.T) {
	const why = `ReplicaSet "eddystone-1" has timed out progressing.`
	deployment := func(status corev1.ConditionStatus, ready int32, observed int64) *appsv1.Deployment {
		d := &appsv1.Deployment{}
		d.Generation = 2
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: observed, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: ready}
		d.Status.Conditions = []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Message: "too few"},
			{Type: appsv1.DeploymentProgressing, Status: status, Message: why},
		}
		return d
	}
	light := unlisted(t).light()
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		want       string
	}{
		"it has given up":                        {deployment(corev1.ConditionFalse, 1, 2), "Stalled Stuck"},
		"it still works on it":                   {deployment(corev1.ConditionTrue, 1, 2), "Reconciling Lighting"},
		"it has given up on an older Deployment": {deployment(corev1.ConditionFalse, 1, 1), "Reconciling Lighting"},
		"all lamps burn":                         {deployment(corev1.ConditionTrue, 3, 2), "Ready Burning"},
	} {
		is, reason, message := summary(light, test.deployment, nil)
		assert.Equal(t, test.want, is+" "+reason, name)
		if reason == "Stuck" {
			assert.True(t, strings.HasPrefix(message, "1 of 3 lamps burn"), message)
			assert.Contains(t, message, why, "the message doesn't have the one of the Deployment, which says what is wrong")
		}
	}
}

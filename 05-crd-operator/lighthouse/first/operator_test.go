//go:build !try

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestOperator tests the operator that newOperator makes: what it does is all that it knows.
func TestOperator(t *testing.T) {
	key := client.ObjectKeyFromObject(eddystone())
	t.Run("it follows the spec", func(t *testing.T) {
		c, reconcile := newOperator(t, eddystone())
		require.NoError(t, reconcile())
		light, deployment := &Lighthouse{}, &appsv1.Deployment{}
		require.NoError(t, c.Get(t.Context(), key, light))
		light.Spec.Lamps = 2
		require.NoError(t, c.Update(t.Context(), light))
		require.NoError(t, reconcile())
		require.NoError(t, c.Get(t.Context(), key, deployment))
		assert.EqualValues(t, 2, *deployment.Spec.Replicas)
	})

	t.Run("it rests", func(t *testing.T) {
		c, reconcile := newOperator(t, eddystone())
		require.NoError(t, reconcile())
		before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
		require.NoError(t, c.Get(t.Context(), key, before))
		require.NoError(t, reconcile())
		require.NoError(t, c.Get(t.Context(), key, after))
		assert.Equal(t, before.ResourceVersion, after.ResourceVersion)
	})

	t.Run("it leaves alone what is not its own", func(t *testing.T) {
		foreign := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "2"}}
		_, reconcile := newOperator(t, eddystone(), foreign)
		require.Error(t, reconcile())
	})

	t.Run("it leaves alone what others have set", func(t *testing.T) {
		c, reconcile := newOperator(t, eddystone())
		require.NoError(t, reconcile())
		deployment, restarted := &appsv1.Deployment{}, map[string]string{"kubectl.kubernetes.io/restartedAt": "today"}
		require.NoError(t, c.Get(t.Context(), key, deployment))
		deployment.Spec.Template.Annotations = restarted
		deployment.Spec.Replicas = new(int32(9)) // there is something to update
		require.NoError(t, c.Update(t.Context(), deployment))
		require.NoError(t, reconcile())
		require.NoError(t, c.Get(t.Context(), key, deployment))
		assert.Equal(t, restarted, deployment.Spec.Template.Annotations)
	})

	t.Run("it is Ready when all lamps have the new flash", func(t *testing.T) {
		c, reconcile := newOperator(t, eddystone())
		require.NoError(t, reconcile())
		light, deployment := &Lighthouse{}, &appsv1.Deployment{}
		require.NoError(t, c.Get(t.Context(), key, deployment))
		deployment.Status = appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 2, ReadyReplicas: 3}
		require.NoError(t, c.Status().Update(t.Context(), deployment))
		require.NoError(t, reconcile())
		require.NoError(t, c.Get(t.Context(), key, light))
		assert.True(t, meta.IsStatusConditionFalse(light.Status.Conditions, "Ready"))
	})

	t.Run("its condition is about a generation", func(t *testing.T) {
		c, reconcile := newOperator(t, eddystone())
		require.NoError(t, reconcile())
		light := &Lighthouse{}
		require.NoError(t, c.Get(t.Context(), key, light))
		require.Len(t, light.Status.Conditions, 1)
		assert.Equal(t, light.Generation, light.Status.Conditions[0].ObservedGeneration)
	})
}

//go:build try

package main

import (
	"context"
	"errors"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

// What the lesson asks the reader to write. Until then, these tests fail. They compile with a Lighthouse
// that has no fields yet, and its objects are in memory, for the sake of a verdict within seconds.

// sea is the objects of a test, and counts what is written.
type sea struct {
	*testing.T
	client.WithWatch
	writes int
	gone   error // what a read of the Lighthouse ends with, if it isn't nil
	stale  error // what a create ends with, if it isn't nil
}

func newSea(t *testing.T, objects ...client.Object) *sea {
	t.Helper()
	addToScheme(scheme.Scheme)
	s := &sea{T: t}
	kept := fake.NewClientBuilder().WithObjects(objects...).WithStatusSubresource(&Lighthouse{}, &appsv1.Deployment{}).Build()
	s.WithWatch = interceptor.NewClient(kept, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, isLight := object.(*Lighthouse); isLight && s.gone != nil {
				return s.gone
			}
			return c.Get(ctx, key, object, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if s.writes++; s.stale != nil {
				return s.stale
			}
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			s.writes++
			return c.Update(ctx, object, options...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
			s.writes++
			return c.SubResource(name).Update(ctx, object, options...)
		},
	})
	return s
}

// light is eddystone, with so many lamps.
func light(lamps int64) *unstructured.Unstructured {
	light := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"lamps": lamps, "flash": "short short"}}}
	light.SetAPIVersion("coast.example.com/v1alpha1")
	light.SetKind("Lighthouse")
	light.SetNamespace("coast")
	light.SetName("eddystone")
	light.SetUID("1")
	return light
}

var eddystone = client.ObjectKey{Namespace: "coast", Name: "eddystone"}

func (s *sea) reconcile() error {
	_, err := (&reconciler{s}).Reconcile(s.Context(), ctrl.Request{NamespacedName: eddystone})
	return err
}

func (s *sea) mustReconcile() {
	s.Helper()
	require.NoError(s, s.reconcile())
}

// deployment returns the Deployment of eddystone, with the empty value if there is none.
func (s *sea) deployment() *appsv1.Deployment {
	s.Helper()
	deployment := &appsv1.Deployment{}
	require.NoError(s, client.IgnoreNotFound(s.Get(s.Context(), eddystone, deployment)))
	return deployment
}

// mustBurn gives the Deployment a status.
func (s *sea) mustBurn(lamps int32) {
	s.Helper()
	deployment := s.deployment()
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: lamps, UpdatedReplicas: lamps, ReadyReplicas: lamps}
	require.NoError(s, s.Status().Update(s.Context(), deployment))
}

// status is that of eddystone.
func (s *sea) status(fields ...string) any {
	s.Helper()
	read := light(0)
	require.NoError(s, s.Get(s.Context(), eddystone, read))
	value, _, err := unstructured.NestedFieldCopy(read.Object, append([]string{"status"}, fields...)...)
	require.NoError(s, err)
	return value
}

func TestTryItReadsTheLighthouse(t *testing.T) {
	s := newSea(t)
	s.gone = errors.New("there is no cache")
	require.Error(t, s.reconcile(), "the Lighthouse wasn't read")
	s.gone = nil
	require.NoError(t, s.reconcile(), "a Lighthouse that is gone is no error")
}

func TestTryTheSpecHasFields(t *testing.T) {
	addToScheme(scheme.Scheme)
	manifest, err := os.ReadFile("eddystone.yaml")
	require.NoError(t, err)
	light, deployment := &Lighthouse{}, &appsv1.Deployment{}
	require.NoError(t, yaml.UnmarshalStrict(manifest, light), "the type lacks a field of eddystone.yaml")
	require.NoError(t, yaml.UnmarshalStrict([]byte("status: {burning: 3}"), light))
	require.NoError(t, (&reconciler{newSea(t)}).want(light, deployment))
	require.NotNil(t, deployment.Spec.Replicas, "want doesn't say how many pods")
	assert.EqualValues(t, 3, *deployment.Spec.Replicas)
	require.NotEmpty(t, deployment.Spec.Template.Spec.Containers, "want doesn't say what the pods do")
	assert.Equal(t, "short short", deployment.Spec.Template.Spec.Containers[0].Env[0].Value)
}

func TestTryItCreatesTheDeployment(t *testing.T) {
	s := newSea(t, light(3))
	s.mustReconcile()
	deployment := s.deployment()
	require.NotNil(t, deployment.Spec.Replicas, "there is no Deployment eddystone")
	require.NotNil(t, deployment.Spec.Selector, "the Deployment selects no pods")
	assert.Equal(t, deployment.Spec.Selector.MatchLabels, deployment.Spec.Template.Labels)
	assert.Contains(t, deployment.Spec.Selector.MatchLabels, "lighthouse", "another Lighthouse has other pods")

	going := light(3)
	going.SetFinalizers([]string{metav1.FinalizerDeleteDependents})
	going.SetDeletionTimestamp(new(metav1.Now()))
	s = newSea(t, going)
	s.mustReconcile()
	assert.Zero(t, s.writes, "a Lighthouse that is being deleted gets nothing new")
}

func TestTryItUpdatesTheDeployment(t *testing.T) {
	s := newSea(t, light(3))
	s.mustReconcile()
	filled := s.deployment() // as the API server fills in defaults
	filled.Spec.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullAlways
	require.NoError(t, s.Update(t.Context(), filled))
	before := s.writes
	require.NoError(t, s.reconcile(), "it creates what is there already")
	assert.Equal(t, before, s.writes, "it writes although nothing has changed")

	changed := light(0)
	require.NoError(t, s.Get(t.Context(), eddystone, changed))
	require.NoError(t, unstructured.SetNestedField(changed.Object, int64(2), "spec", "lamps"))
	require.NoError(t, s.Update(t.Context(), changed))
	s.mustReconcile()
	assert.EqualValues(t, 2, *s.deployment().Spec.Replicas)

	s = newSea(t, light(3))
	s.stale = apierrors.NewAlreadyExists(schema.GroupResource{Resource: "deployments"}, "eddystone")
	require.NoError(t, s.reconcile(), "a stale cache is no error")
}

func TestTryItOwnsTheDeployment(t *testing.T) {
	s := newSea(t, light(3))
	s.mustReconcile()
	owner := metav1.GetControllerOf(s.deployment())
	require.NotNil(t, owner, "the Deployment has no owner")
	assert.Equal(t, "eddystone", owner.Name)

	foreign := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "coast", Name: "eddystone", UID: "2"}}
	s = newSea(t, light(3), foreign)
	require.Error(t, s.reconcile(), "the Deployment of somebody else was taken")
	assert.Zero(t, s.writes)
}

func TestTryItCountsTheLamps(t *testing.T) {
	s := newSea(t, light(3))
	s.mustReconcile()
	s.mustBurn(2)
	s.mustReconcile()
	assert.EqualValues(t, 2, s.status("burning"), "the status doesn't say how many lamps burn")
	before := s.writes
	s.mustReconcile()
	assert.Equal(t, before, s.writes, "it writes what the status says already")
}

func TestTryItReportsWhetherItIsReady(t *testing.T) {
	for lamps, want := range map[int32]string{2: "False", 3: "True"} {
		s := newSea(t, light(3))
		s.mustReconcile()
		s.mustBurn(lamps)
		s.mustReconcile()
		conditions, _ := s.status("conditions").([]any)
		require.NotEmpty(t, conditions, "there is no condition")
		assert.Equal(t, "Ready", conditions[0].(map[string]any)["type"])
		assert.Equal(t, want, conditions[0].(map[string]any)["status"], "%d of 3 lamps burn", lamps)
	}
}

// To see it take effect takes a cluster, and the lesson has one. Here the line has to be there.
func TestTryItHearsOfItsDeployments(t *testing.T) {
	program, err := os.ReadFile("main.go")
	require.NoError(t, err)
	hears := regexp.MustCompile(`\.\s*(Owns|Watches)\(\s*&appsv1\.Deployment\{\}`)
	require.True(t, hears.Match(program), "nobody tells it when a Deployment changes")
}

//go:build try

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
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
// whose fields aren't all there yet, and its objects are in memory, for the sake of a verdict within seconds.

// sea is the objects of a test, and counts what is written.
type sea struct {
	*testing.T
	client.WithWatch
	logged string // what the last reconcile has logged
	writes int
	unread error // what a read of the Lighthouse ends with, if it isn't nil
	fail   error // what each write ends with, if it isn't nil
}

func newSea(t *testing.T, objects ...client.Object) *sea {
	t.Helper()
	addToScheme(scheme.Scheme)
	s := &sea{T: t}
	kept := fake.NewClientBuilder().WithObjects(objects...).WithStatusSubresource(&Lighthouse{}, &appsv1.Deployment{}).Build()
	s.WithWatch = interceptor.NewClient(kept, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, isLight := object.(*Lighthouse); isLight && s.unread != nil {
				return s.unread
			}
			return c.Get(ctx, key, object, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if s.writes++; s.fail != nil {
				return s.fail
			}
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if s.writes++; s.fail != nil {
				return s.fail
			}
			return c.Update(ctx, object, options...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
			if s.writes++; s.fail != nil {
				return s.fail
			}
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
	light.SetGeneration(4)
	return light
}

var eddystone = client.ObjectKey{Namespace: "coast", Name: "eddystone"}

func (s *sea) reconcile() (ctrl.Result, error) {
	s.logged = ""
	log := funcr.New(func(_, args string) { s.logged += args + "\n" }, funcr.Options{})
	return (&reconciler{s}).Reconcile(ctrl.LoggerInto(s.Context(), log), ctrl.Request{NamespacedName: eddystone})
}

func (s *sea) mustReconcile() {
	s.Helper()
	_, err := s.reconcile()
	require.NoError(s, err)
}

// mustFail reconciles when each write fails, and wants to hear of it.
func (s *sea) mustFail(lost string) {
	s.Helper()
	s.fail = errors.New("the server is down")
	_, err := s.reconcile()
	require.ErrorIs(s, err, s.fail, lost)
	s.fail = nil
}

// deployment returns the Deployment of eddystone, with the empty value if there is none.
func (s *sea) deployment() *appsv1.Deployment {
	s.Helper()
	deployment := &appsv1.Deployment{}
	require.NoError(s, client.IgnoreNotFound(s.Get(s.Context(), eddystone, deployment)))
	return deployment
}

// mustBurn gives the Deployment a status in which so many of its pods are ready, and nothing changes any more.
func (s *sea) mustBurn(lamps int32, changes ...func(*appsv1.DeploymentStatus)) {
	s.Helper()
	deployment := s.deployment()
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: lamps, UpdatedReplicas: lamps, ReadyReplicas: lamps}
	for _, change := range changes {
		change(&deployment.Status)
	}
	require.NoError(s, s.Status().Update(s.Context(), deployment))
}

// change sets a field of the spec of eddystone.
func (s *sea) change(field string, value any) {
	s.Helper()
	changed := light(0)
	require.NoError(s, s.Get(s.Context(), eddystone, changed))
	require.NoError(s, unstructured.SetNestedField(changed.Object, value, "spec", field))
	require.NoError(s, s.Update(s.Context(), changed))
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
	s.unread = errors.New("there is no cache")
	_, err := s.reconcile()
	require.Error(t, err, "the Lighthouse wasn't read, or the error of the read was thrown away")
	s.unread = nil
	_, err = s.reconcile()
	require.NoError(t, err, "a Lighthouse that is gone is no error: client.IgnoreNotFound")

	s = newSea(t, light(3))
	_, _ = s.reconcile()
	require.Contains(t, s.logged, `"msg"="read" "spec"=`, `each value has a name in the log: log.Info("read", "spec", light.Spec)`)
}

func TestTryTheSpecHasFields(t *testing.T) {
	manifest, err := os.ReadFile("eddystone.yaml")
	require.NoError(t, err)
	light := &Lighthouse{}
	require.NoError(t, yaml.UnmarshalStrict(manifest, light), "the type lacks a field of eddystone.yaml")
	spec, err := json.Marshal(light.Spec)
	require.NoError(t, err)
	for _, field := range []string{`"lamps":3`, `"flash":"short short"`} {
		require.Contains(t, string(spec), field, "a field has another name in JSON than in crd.yaml, so what the API server sends gets lost: it needs its tag")
	}
}

func TestTryItCreatesTheDeployment(t *testing.T) {
	s := newSea(t, light(3))
	s.mustReconcile()
	deployment := s.deployment()
	require.NotEmpty(t, deployment.Name, "there is no Deployment eddystone in the namespace of the Lighthouse: its ObjectMeta needs both, Namespace and Name")
	require.NotNil(t, deployment.Spec.Replicas, "want doesn't say how many pods: Replicas")
	assert.EqualValues(t, 3, *deployment.Spec.Replicas)
	require.NotEmpty(t, deployment.Spec.Template.Spec.Containers, "want doesn't say what the pods do: setLamp")
	assert.Equal(t, "short short", deployment.Spec.Template.Spec.Containers[0].Env[0].Value)
	assert.Equal(t, map[string]string{"lighthouse": "eddystone"}, deployment.Spec.Template.Labels, "the Deployment selects its pods by these")

	newSea(t, light(3)).mustFail("the error of the create was thrown away: return it")

	s.change("lamps", int64(2))
	s.mustFail("no write has failed: call want in the function that CreateOrUpdate gets, and return the error of CreateOrUpdate")
	_, err := s.reconcile()
	require.NoError(t, err, "it creates what is there already")
	assert.EqualValues(t, 2, *s.deployment().Spec.Replicas)
	assert.Contains(t, s.logged, `"msg"="the Deployment" "is"="updated"`, `say what was done: log.Info("the Deployment", "is", done)`)
}

func TestTryItHealsTheDeployment(t *testing.T) {
	s := newSea(t, light(3))
	s.mustReconcile()
	owner := metav1.GetControllerOf(s.deployment())
	require.NotNil(t, owner, "nobody controls the Deployment, so a change of it has no key: ctrl.SetControllerReference, the owner first")
	assert.Equal(t, "Lighthouse eddystone", owner.Kind+" "+owner.Name)

	// To see it take effect takes a cluster, and the lesson has one. Here the line has to be there.
	program, err := os.ReadFile("main.go")
	require.NoError(t, err)
	hears := regexp.MustCompile(`(?m)^[^/]*\.\s*(Owns|Watches)\(\s*&appsv1\.Deployment\{\}`)
	require.True(t, hears.Match(program), "nobody tells it when a Deployment changes: Owns")
}

func TestTryItWritesOnlyWhatDiffers(t *testing.T) {
	s := newSea(t, light(3))
	s.mustReconcile()
	filled := s.deployment() // as the API server fills in defaults
	filled.Spec.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullAlways
	filled.Spec.Template.Spec.Containers[0].TerminationMessagePath = corev1.TerminationMessagePathDefault
	require.NoError(t, s.Update(t.Context(), filled))
	before := s.writes
	s.mustReconcile()
	require.Equal(t, before, s.writes, "it writes although nothing has changed: the container lost what the API server had filled in")

	s.change("flash", "long")
	s.mustReconcile()
	containers := s.deployment().Spec.Template.Spec.Containers
	require.Len(t, containers, 1)
	require.NotEmpty(t, containers[0].Env, "the container is empty: lamp has to be the address of that in the pod")
	assert.Equal(t, "long", containers[0].Env[0].Value, "the flash has changed, and the lamps still have the old one")
	assert.Equal(t, corev1.PullAlways, containers[0].ImagePullPolicy, "an update takes away what the API server has filled in")
}

func TestTryItLeavesToOthersWhatIsTheirs(t *testing.T) {
	_, err := newSea(t, light(3)).reconcile()
	require.NoError(t, err, "it refuses to create a Deployment: one that isn't there yet has no UID")

	going := light(3)
	going.SetFinalizers([]string{metav1.FinalizerDeleteDependents})
	going.SetDeletionTimestamp(new(metav1.Now()))
	dying := newSea(t, going)
	dying.mustReconcile()
	assert.Zero(t, dying.writes, "a Lighthouse that is being deleted gets nothing new: DeletionTimestamp")

	older := light(3)
	older.SetUID("0")
	of := *metav1.NewControllerRef(older, older.GroupVersionKind())
	for whose, owners := range map[string][]metav1.OwnerReference{"nobody's": nil, "an older Lighthouse's": {of}} {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "coast", Name: "eddystone", UID: "2", OwnerReferences: owners}}
		s := newSea(t, light(3), deployment)
		_, err := s.reconcile()
		require.Error(t, err, "it took a Deployment that is %s: metav1.IsControlledBy compares the UID", whose)
		assert.Zero(t, s.writes, "it wrote to a Deployment that is %s", whose)
		assert.EqualError(t, err, "the Deployment eddystone belongs to somebody else", "the lesson looks for these words in the log")
	}
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	for _, stale := range []error{apierrors.NewAlreadyExists(deployments, "eddystone"), apierrors.NewConflict(deployments, "eddystone", errors.New("it has changed"))} {
		s := newSea(t, light(3))
		s.fail = stale
		result, err := s.reconcile()
		require.NoError(t, err, "a stale cache is no error")
		assert.Positive(t, result.RequeueAfter, "it failed (%v), and nobody calls it again: RequeueAfter", stale)
	}
}

func TestTryItCountsTheLamps(t *testing.T) {
	s := newSea(t, light(3))
	s.mustReconcile()
	s.mustBurn(2)
	s.mustReconcile()
	assert.EqualValues(t, 2, s.status("burning"), "the status doesn't say how many lamps burn (r.Update doesn't write it, r.Status().Update does)")
	before := s.writes
	s.mustReconcile()
	assert.Equal(t, before, s.writes, "it writes what the status says already")
	s.mustBurn(1)
	s.mustFail("the error of report was thrown away: return it")
}

func TestTryItReportsWhetherItIsReady(t *testing.T) {
	type status = appsv1.DeploymentStatus
	for name, test := range map[string]struct {
		ready  int32
		change func(*status)
		want   string
	}{
		"all lamps burn":                           {3, func(*status) {}, "True Burning"},
		"one lamp is dark":                         {2, func(*status) {}, "False Lighting"},
		"one pod is dark (ReadyReplicas)":          {3, func(s *status) { s.ReadyReplicas = 2 }, "False Lighting"},
		"two have the old flash (UpdatedReplicas)": {3, func(s *status) { s.UpdatedReplicas = 1 }, "False Lighting"},
		"an old pod is still there (Replicas)":     {3, func(s *status) { s.Replicas = 4 }, "False Lighting"},
		"the numbers are old (ObservedGeneration)": {3, func(s *status) { s.ObservedGeneration-- }, "False Lighting"},
	} {
		s := newSea(t, light(3))
		s.mustReconcile()
		s.mustBurn(test.ready, test.change)
		s.mustReconcile()
		conditions, _ := s.status("conditions").([]any)
		require.Len(t, conditions, 1, "there is no condition, or too many")
		ready := conditions[0].(map[string]any)
		assert.Equal(t, "Ready", ready["type"])
		assert.Equal(t, test.want, fmt.Sprint(ready["status"], " ", ready["reason"]), name)
		assert.EqualValues(t, 4, ready["observedGeneration"], "the condition doesn't say which spec it's about: ObservedGeneration, of the Lighthouse")
		assert.True(t, strings.HasPrefix(fmt.Sprint(ready["message"]), fmt.Sprint(s.deployment().Status.ReadyReplicas)), "the message doesn't begin with how many burn: %v", ready["message"])
	}

	// The flash changes: as many lamps burn as before, some with the old flash.
	s := newSea(t, light(3))
	s.mustReconcile()
	s.mustBurn(3)
	s.mustReconcile()
	s.mustBurn(3, func(s *status) { s.UpdatedReplicas = 1 })
	s.mustReconcile()
	conditions, _ := s.status("conditions").([]any)
	require.Len(t, conditions, 1)
	assert.Equal(t, "False", conditions[0].(map[string]any)["status"], "the count is the same, and the condition isn't: it has to be written, too")
	before := s.writes
	s.mustReconcile()
	assert.Equal(t, before, s.writes, "it writes what the status says already")
}

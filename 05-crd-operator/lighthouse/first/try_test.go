//go:build try

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// What the lesson asks the reader to write. Until then, these tests fail, and one of sea_test.go does.

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
	require.NoError(s, client.IgnoreNotFound(s.Get(s.Context(), key, deployment)))
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
	require.NoError(s, s.Get(s.Context(), key, changed))
	require.NoError(s, unstructured.SetNestedField(changed.Object, value, "spec", field))
	require.NoError(s, s.Update(s.Context(), changed))
}

// status is that of eddystone.
func (s *sea) status(fields ...string) any {
	s.Helper()
	read := light(0)
	require.NoError(s, s.Get(s.Context(), key, read))
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

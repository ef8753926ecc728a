//go:build try

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// What the lessons on what the operator owns and on the office ask the reader to write. Until then, these tests fail. Objects are in
// memory, for the sake of a verdict within seconds.

// shelf is the objects of a test, with an operator and an office.
type shelf struct {
	*testing.T
	client.WithWatch
	*reconciler
	office *lightlist.Office
	clock  *testclock.FakeClock
	logged string // by the last reconcile
}

func newShelf(t *testing.T, light *v1alpha1.Lighthouse) *shelf {
	t.Helper()
	types, err := newScheme()
	require.NoError(t, err)
	now := testclock.NewFakeClock(time.Unix(0, 0))
	s := &shelf{T: t, clock: now, office: lightlist.New(now, lightlist.Settings{Bearer: "trinity"})}
	secret := &corev1.Secret{Data: map[string][]byte{tokenKey: []byte("trinity")}}
	secret.Namespace, secret.Name = "coast", "light-list"
	light.Namespace, light.UID, light.Generation = "coast", "1", 1
	kept := fake.NewClientBuilder().WithScheme(types).WithReturnManagedFields().WithObjects(light, secret).
		WithStatusSubresource(&v1alpha1.Lighthouse{}, &appsv1.Deployment{}).Build()
	s.WithWatch = interceptor.NewClient(kept, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			err := c.Apply(ctx, object, options...)
			if deployment, is := object.(*appsv1ac.DeploymentApplyConfiguration); is && deployment.Generation == nil {
				deployment.WithGeneration(0) // a server counts
			}
			return err
		},
	})
	server := httptest.NewServer(s.office)
	t.Cleanup(server.Close)
	t.Cleanup(server.Client().CloseIdleConnections)
	s.reconciler = &reconciler{s.WithWatch, s.WithWatch, newOffice(server.URL, now)}
	s.reconciler.office.client = server.Client()
	return s
}

// onLand is a Lighthouse that isn't in the Light List.
func onLand() *v1alpha1.Lighthouse {
	light := eddystone()
	light.Spec.Position, light.Spec.SecretRef = "", nil
	return light
}

var key = client.ObjectKey{Namespace: "coast", Name: "eddystone"}

func (s *shelf) reconcile() {
	s.Helper()
	s.logged = ""
	log := funcr.New(func(_, args string) { s.logged += args + "\n" }, funcr.Options{})
	_, err := s.Reconcile(ctrl.LoggerInto(s.Context(), log), ctrl.Request{NamespacedName: key})
	require.NoError(s, err)
}

func (s *shelf) deployment() *appsv1.Deployment {
	s.Helper()
	deployment := &appsv1.Deployment{}
	require.NoError(s, s.WithWatch.Get(s.Context(), key, deployment))
	return deployment
}

// annotate sets the annotations of the Lighthouse.
func (s *shelf) annotate(annotations map[string]string) {
	s.Helper()
	light := &v1alpha1.Lighthouse{}
	require.NoError(s, s.WithWatch.Get(s.Context(), key, light))
	light.Annotations = annotations
	require.NoError(s, s.WithWatch.Update(s.Context(), light))
}

func TestTryAnAnnotationRelightsTheLamps(t *testing.T) {
	s := newShelf(t, onLand())
	s.reconcile()
	require.Empty(t, s.deployment().Spec.Template.Annotations, "no Lighthouse has asked for it")
	deployment := s.deployment()
	deployment.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "today"}
	require.NoError(t, s.WithWatch.Update(t.Context(), deployment, client.FieldOwner("kubectl")))

	s.annotate(map[string]string{"coast.example.com/relight": "noon"})
	s.reconcile()
	require.Equal(t, map[string]string{"coast.example.com/relight": "noon", "kubectl.kubernetes.io/restartedAt": "today"}, s.deployment().Spec.Template.Annotations,
		"the pods don't have the annotation of the Lighthouse")
	s.reconcile()
	require.Equal(t, "noon", s.deployment().Spec.Template.Annotations["coast.example.com/relight"], "it doesn't stay")

	s.annotate(nil)
	s.reconcile()
	assert.Equal(t, map[string]string{"kubectl.kubernetes.io/restartedAt": "today"}, s.deployment().Spec.Template.Annotations,
		"what the operator no longer applies has to go, and what somebody else has set has to stay")
}

func TestTryAnAutoscalerOwnsTheReplicas(t *testing.T) {
	light := onLand()
	light.Annotations = map[string]string{"coast.example.com/autoscaled": "yes"}
	s := newShelf(t, light)
	s.reconcile()
	require.Nil(t, s.deployment().Spec.Replicas, "it applies the number of replicas, which is the autoscaler's")
	s.reconcile() // replicas that nobody has set are no panic

	scaled := s.deployment()
	scaled.Spec.Replicas = new(int32(5))
	require.NoError(t, s.WithWatch.Update(t.Context(), scaled, client.FieldOwner("autoscaler")))
	s.reconcile()
	require.EqualValues(t, 5, *s.deployment().Spec.Replicas, "it undoes what the autoscaler does")

	scaled = s.deployment()
	scaled.Status = appsv1.DeploymentStatus{ObservedGeneration: scaled.Generation, Replicas: 5, UpdatedReplicas: 5, ReadyReplicas: 5}
	is, _, message := summary(light, scaled, nil)
	assert.Equal(t, "Ready: 5 of 5 lamps burn", is+": "+message, "the autoscaler wants five, so Ready is five")

	s.annotate(nil)
	s.reconcile()
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
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		want       string
	}{
		"it has given up":                        {deployment(corev1.ConditionFalse, 1, 2), "Stalled Stuck"},
		"it still works on it":                   {deployment(corev1.ConditionTrue, 1, 2), "Reconciling Lighting"},
		"it has given up on an older Deployment": {deployment(corev1.ConditionFalse, 1, 1), "Reconciling Lighting"},
		"all lamps burn":                         {deployment(corev1.ConditionTrue, 3, 2), "Ready Burning"},
	} {
		is, reason, message := summary(onLand(), test.deployment, nil)
		assert.Equal(t, test.want, is+" "+reason, name)
		if reason == "Stuck" {
			assert.True(t, strings.HasPrefix(message, "1 of 3 lamps burn"), message)
			assert.Contains(t, message, why, "the message doesn't have the one of the Deployment, which says what is wrong")
		}
	}
}

func TestTryWhatIsPaidForIsLogged(t *testing.T) {
	s := newShelf(t, eddystone())
	s.reconcile()
	lights, _ := s.office.Books()
	require.Len(t, lights, 1)
	require.Contains(t, s.logged, `"msg"="registered" "token"="1"`, "it has spent 120, and its log doesn't say so")

	s.clock.Step(time.Minute)
	s.reconcile() // it looks the registration up
	assert.NotContains(t, s.logged, "registered", "it has looked the registration up, which costs nothing")

	failed := newShelf(t, eddystone())
	failed.reconcile()
	failed.office.Edit("1", "", "") // a clerk strikes it off
	failed.office.Set(func(settings *lightlist.Settings) { settings.Next = []lightlist.Fault{"", lightlist.TooMany} })
	failed.clock.Step(time.Minute)
	failed.reconcile()
	assert.Contains(t, failed.logged, "OfficeBusy")
	assert.NotContains(t, failed.logged, "registered", "the office has refused, so nothing was registered")
}

// answers makes an office of ours whose API is a function.
func answers(now *testclock.FakeClock, answer func(*http.Request) *http.Response) *office {
	o := newOffice("http://office", now)
	o.client.Transport = testcluster.RoundTripper(func(r *http.Request) (*http.Response, error) { return answer(r), nil })
	return o
}

func TestTryTheOfficeKnowsWhoCalls(t *testing.T) {
	agent := ""
	o := answers(testclock.NewFakeClock(time.Unix(0, 0)), func(r *http.Request) *http.Response {
		agent = r.UserAgent()
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}
	})
	_, err := o.lookUp(t.Context(), "trinity", "1")
	require.NoError(t, err)
	assert.Equal(t, "lighthouse-operator", agent, "the office's log has Go's default, or nothing, and can't tell who calls too often")
}

func TestTryRetryAfterMayBeADate(t *testing.T) {
	start := time.Date(2026, time.November, 28, 7, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"90": 90 * time.Second,
		start.Add(time.Hour).Format(http.TimeFormat):    time.Hour,
		start.Add(-time.Minute).Format(http.TimeFormat): 0,
		"soon": 0,
		"":     0,
	} {
		now := testclock.NewFakeClock(start)
		o := answers(now, func(*http.Request) *http.Response {
			return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {header}}, Body: http.NoBody}
		})
		_, err := o.lookUp(t.Context(), "trinity", "1")
		refused := &refusal{}
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, want, refused.after, "Retry-After: %s", header)
		assert.Equal(t, want, o.wait("another", ""), "Retry-After: %s, and another Lighthouse calls", header)
	}
}

// endless is an answer that goes on and on, up to a limit at which the test gives up.
type endless struct{ read int }

const much = 16 << 20

func (e *endless) Read(into []byte) (int, error) {
	if e.read > much {
		return 0, io.EOF
	}
	for i := range into {
		into[i] = ' '
	}
	e.read += len(into)
	return len(into), nil
}

func TestTryAnAnswerHasALimit(t *testing.T) {
	body := &endless{}
	o := answers(testclock.NewFakeClock(time.Unix(0, 0)), func(*http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}
	})
	_, err := o.lookUp(t.Context(), "trinity", "1")
	require.Error(t, err, "half an answer is none")
	assert.Less(t, body.read, much, "it reads as much as the office sends")
}

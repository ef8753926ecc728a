package controllerruntime

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// The answers of a server that a real one gives only in a bad moment.
var (
	things      = schema.GroupResource{Resource: "things"}
	exists      = apierrors.NewAlreadyExists(things, "yay")
	conflict    = apierrors.NewConflict(things, "yay", errors.New("it has changed"))
	notFound    = apierrors.NewNotFound(things, "yay")
	quota       = apierrors.NewForbidden(things, "yay", errors.New("exceeded quota"))
	otherUID    = apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "yay-pod", field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), "2", "field is immutable")})
	errBroken   = errors.New("the network is in a bad mood")
	terminating = &apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{
		Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}},
	}}}
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// at is due in so much time.
func at(in time.Duration, phase cnat.AtPhase) *cnat.At {
	at := &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: "harbour", Name: "yay", UID: "1", ResourceVersion: "10", Generation: 1},
		Spec:       cnat.AtSpec{Schedule: noon.Add(in).Format(time.RFC3339), Command: "echo YAY"},
		Status:     cnat.AtStatus{Phase: phase},
	}
	if phase == cnat.Running {
		at.Status.Phase = cnat.Pending
		at.Status = *lifecycle.Decide(lifecycle.Observed{At: at, Now: noon}).Status
	}
	return at
}

func pod(phase corev1.PodPhase) *corev1.Pod {
	pod := lifecycle.DesiredPod(at(0, ""), lifecycle.DefaultImage)
	pod.UID, pod.ResourceVersion, pod.Status.Phase = "2", "10", phase
	return pod
}

// env is a reconciler at noon, with a cache that does not change, and a fake server.
type env struct {
	*Reconciler
	clock    *testclock.FakeClock
	requests []string         // to the server
	answers  map[string]error // of the server to such requests
	during   func(context.Context)
}

// cachedClient reads from the cache, and writes to the server, as that of a manager.
type cachedClient struct {
	client.Client
	cache client.Reader
}

func (c cachedClient) Get(ctx context.Context, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
	return c.cache.Get(ctx, key, into, o...)
}

func newEnv(t *testing.T, cached, served []client.Object) *env {
	t.Helper()
	types := runtime.NewScheme()
	require.NoError(t, AddToScheme(types))
	build := func(objects []client.Object) *fake.ClientBuilder {
		builder := fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(&cnat.At{})
		for _, o := range objects {
			builder.WithObjects(o.DeepCopyObject().(client.Object))
		}
		return builder
	}
	e := &env{clock: testclock.NewFakeClock(noon), answers: map[string]error{}, during: func(context.Context) {}}
	request := func(ctx context.Context, verb string, o client.Object, do func() error) error {
		kind := "pod"
		if _, ok := o.(*cnat.At); ok {
			kind = "At"
		}
		e.requests = append(e.requests, verb+" "+kind)
		e.during(ctx)
		if err := e.answers[verb+" "+kind]; err != nil {
			return err
		}
		return do()
	}
	server := build(served).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return request(ctx, "get", o, func() error { return c.Get(ctx, key, o, opts...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return request(ctx, "create", o, func() error { return c.Create(ctx, o, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return request(ctx, "update", o, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return request(ctx, "patch", o, func() error { return c.Patch(ctx, o, p, opts...) })
		},
	}).Build()
	e.Reconciler = &Reconciler{Client: cachedClient{server, build(cached).Build()}, Live: server, Events: events.NewFakeRecorder(10), Clock: e.clock}
	return e
}

// silent is a context for an operator whose log nobody reads.
func silent(t *testing.T) context.Context { return klog.NewContext(t.Context(), logr.Discard()) }

var request = ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "harbour", Name: "yay"}}

func TestWhatIsObserved(t *testing.T) {
	const get, getPod = "get At", "get pod"
	going := at(0, "")
	going.Finalizers, going.DeletionTimestamp = []string{"foregroundDeletion"}, &metav1.Time{Time: noon}
	late := at(-time.Hour, cnat.Running)
	late.Spec.StartingDeadlineSeconds = new(int64(9))
	tests := map[string]struct {
		cached   []client.Object
		served   []client.Object
		requests []string
		at, pod  bool // there is one
	}{
		"no pod, live, if there is no At":             {requests: []string{getPod}},
		"no pod, live, if the At is going":            {cached: []client.Object{going}, requests: []string{getPod}, at: true},
		"a pod that is in no cache, and then its At":  {served: []client.Object{pod("")}, requests: []string{getPod, get}, pod: true},
		"the At, from the cache":                      {cached: []client.Object{at(0, "")}, at: true},
		"both, from the caches":                       {cached: []client.Object{at(0, cnat.Running), pod("")}, at: true, pod: true},
		"the At, live, if its pod is to be created":   {cached: []client.Object{at(0, cnat.Running)}, served: []client.Object{at(0, cnat.Running)}, requests: []string{get}, at: true},
		"no At, live, if it is gone":                  {cached: []client.Object{at(0, cnat.Running)}, requests: []string{get}},
		"the At, live, if only its pod is in a cache": {cached: []client.Object{pod("")}, served: []client.Object{at(0, cnat.Running)}, requests: []string{get}, at: true, pod: true},
		"both, live, when it is too late":             {cached: []client.Object{late}, served: []client.Object{late, pod("")}, requests: []string{get, getPod}, at: true, pod: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, tc.cached, tc.served)
			o, err := e.observe(silent(t), request.NamespacedName)
			require.NoError(t, err)
			assert.Equal(t, tc.requests, e.requests)
			assert.Equal(t, tc.at, o.At != nil, "an At")
			assert.Equal(t, tc.pod, o.Pod != nil, "a pod")
			assert.Equal(t, noon, o.Now)
		})
	}
}

func TestReconcileTakesOneStep(t *testing.T) {
	const get, getPod, create, update, patch = "get At", "get pod", "create pod", "update At", "patch pod"
	done, running, pending := at(0, cnat.Done), at(0, cnat.Running), at(0, cnat.Pending)
	foreign := pod(corev1.PodRunning)
	foreign.OwnerReferences, foreign.Finalizers, foreign.Labels = nil, nil, nil
	gone := []client.Object{}
	tests := map[string]struct {
		cached   []client.Object
		served   []client.Object // what is cached, if nil
		answers  map[string]error
		requests []string
		again    time.Duration
	}{
		"PENDING":                          {cached: []client.Object{at(time.Hour, "")}, requests: []string{update}, again: time.Hour},
		"RUNNING, before there is a pod":   {cached: []client.Object{pending}, requests: []string{update}},
		"the pod":                          {cached: []client.Object{running}, requests: []string{get, create}},
		"DONE":                             {cached: []client.Object{at(0, cnat.Running), pod(corev1.PodSucceeded)}, requests: []string{update}},
		"the finalizer":                    {cached: []client.Object{done, pod(corev1.PodSucceeded)}, requests: []string{patch}},
		"the finalizer, if there is no At": {cached: []client.Object{pod(corev1.PodRunning)}, requests: []string{get, patch}},
		"none, if all is over":             {cached: []client.Object{done}},
		"none, if there is no At":          {requests: []string{getPod}},
		"the finalizer, if neither is in a cache":        {served: []client.Object{pod(corev1.PodRunning)}, requests: []string{getPod, get, patch}},
		"none, if the pod that is in no cache has an At": {served: []client.Object{running, pod(corev1.PodRunning)}, requests: []string{getPod, get}},

		"none, if the At is gone that the cache shows":         {cached: []client.Object{running}, served: gone, requests: []string{get}},
		"none, if the At is done that the cache shows RUNNING": {cached: []client.Object{running}, served: []client.Object{done}, requests: []string{get}},
		"none, if the cache does not show the At of a pod":     {cached: []client.Object{pod(corev1.PodRunning)}, served: []client.Object{running}, requests: []string{get}, again: 0},
		"none, if the cache does not show our pod":             {cached: []client.Object{running}, served: []client.Object{running, pod(corev1.PodRunning)}, requests: []string{get, create, getPod}},
		"a status, if a foreign pod is in the way":             {cached: []client.Object{running}, served: []client.Object{running, foreign}, requests: []string{get, create, getPod, update}, again: 10 * time.Second},
		"a status, if a quota is used up":                      {cached: []client.Object{running}, answers: map[string]error{create: quota}, requests: []string{get, create, update}, again: 10 * time.Second},

		"none, if the pod is in the way and then gone": {cached: []client.Object{running}, answers: map[string]error{create: exists}, requests: []string{get, create, getPod}, again: 10 * time.Second},
		"none, if the namespace is terminating":        {cached: []client.Object{running}, answers: map[string]error{create: terminating}, requests: []string{get, create}},
		"once more, if the At has changed":             {cached: []client.Object{pending}, answers: map[string]error{update: conflict}, requests: []string{update}, again: staleRetry},
		"none, if the At is gone meanwhile":            {cached: []client.Object{pending}, answers: map[string]error{update: notFound}, requests: []string{update}},
		"none, if the pod is gone meanwhile":           {cached: []client.Object{done, pod("")}, answers: map[string]error{patch: notFound}, requests: []string{patch}},
		"once more, if it is another pod by now":       {cached: []client.Object{done, pod("")}, answers: map[string]error{patch: otherUID}, requests: []string{patch}, again: staleRetry},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.served == nil {
				tc.served = tc.cached
			}
			e := newEnv(t, tc.cached, tc.served)
			e.answers = tc.answers
			result, err := e.Reconcile(silent(t), request)
			require.NoError(t, err)
			assert.Equal(t, tc.requests, e.requests)
			assert.Equal(t, ctrl.Result{RequeueAfter: tc.again}, result)
		})
	}
}

func TestTheCommandRunsInTheImageOfTheOptions(t *testing.T) {
	objects := []client.Object{at(0, cnat.Running)}
	e := newEnv(t, objects, objects)
	e.Image = "registry.example/busybox:1"
	_, err := e.Reconcile(silent(t), request)
	require.NoError(t, err)
	created, err := getPod(t.Context(), e.Live, client.ObjectKeyFromObject(pod("")))
	require.NoError(t, err)
	require.NotNil(t, created)
	assert.Equal(t, e.Image, created.Spec.Containers[0].Image)
}

func TestErrors(t *testing.T) {
	tests := map[string]struct {
		cached []client.Object
		broken map[string]error
		want   string
	}{
		"to read the At":          {[]client.Object{at(0, cnat.Running)}, map[string]error{"get At": errBroken}, "reading the At harbour/yay"},
		"to create the pod":       {[]client.Object{at(0, cnat.Running)}, map[string]error{"create pod": errBroken}, "creating the pod harbour/yay-pod"},
		"to read the pod":         {[]client.Object{at(0, cnat.Running)}, map[string]error{"create pod": exists, "get pod": errBroken}, "reading the pod harbour/yay-pod"},
		"to write the status":     {[]client.Object{at(0, "")}, map[string]error{"update At": errBroken}, "writing the status of the At harbour/yay"},
		"to remove the finalizer": {[]client.Object{at(0, cnat.Done), pod("")}, map[string]error{"patch pod": errBroken}, "removing the finalizer of the pod harbour/yay-pod"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, tc.cached, tc.cached)
			e.answers = tc.broken
			_, err := e.Reconcile(silent(t), request)
			require.EqualError(t, err, tc.want+": the network is in a bad mood")
			require.ErrorIs(t, err, errBroken)
		})
	}
}

func TestTheTimeComesWhileTheStatusIsWritten(t *testing.T) {
	objects := []client.Object{at(time.Second, "")}
	e := newEnv(t, objects, objects)
	e.during = func(context.Context) { e.clock.Step(time.Minute) }
	result, err := e.Reconcile(silent(t), request)
	require.NoError(t, err)
	assert.Positive(t, result.RequeueAfter, "what is not positive would be never")
	assert.Less(t, result.RequeueAfter, time.Millisecond)
}

func TestAfterTheEndNoReconcileBegins(t *testing.T) {
	objects := []client.Object{at(0, "")}
	e := newEnv(t, objects, objects)
	ctx, stop := context.WithCancel(silent(t))
	stop()
	result, err := e.Reconcile(ctx, request)
	require.NoError(t, err)
	assert.Zero(t, result)
	assert.Empty(t, e.requests)
}

func TestAReconcileThatHasBegunIsFinished(t *testing.T) {
	objects := []client.Object{at(time.Hour, "")}
	e := newEnv(t, objects, objects)
	ctx, stop := context.WithCancel(silent(t))
	e.during = func(ctx context.Context) {
		stop()
		require.NoError(t, ctx.Err())
		_, limited := ctx.Deadline()
		assert.True(t, limited)
	}
	_, err := e.Reconcile(ctx, request)
	require.NoError(t, err)
	assert.Equal(t, []string{"update At"}, e.requests)
}

func TestWhichChangesOfAnAtMatter(t *testing.T) {
	tests := map[string]struct {
		change func(*cnat.At)
		want   bool
	}{
		"none, a resync": {func(*cnat.At) {}, false},
		"of a condition": {func(at *cnat.At) { at.Status.Conditions = []metav1.Condition{{Type: "Other"}} }, false},
		"of a label":     {func(at *cnat.At) { at.Labels = map[string]string{"a": "b"} }, false},
		"of the phase":   {func(at *cnat.At) { at.Status.Phase = cnat.Running }, true},
		"of the spec":    {func(at *cnat.At) { at.Generation++ }, true},
		"another At of the same name, both of generation 1": {func(at *cnat.At) { at.UID = "2" }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, after := at(0, ""), at(0, "")
			after.ResourceVersion = "11"
			tc.change(after)
			assert.Equal(t, tc.want, nextStep.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}))
		})
	}
	assert.True(t, nextStep.Create(event.CreateEvent{Object: at(0, "")}))
	assert.True(t, nextStep.Delete(event.DeleteEvent{Object: at(0, "")}))
}

func TestWhichAtAPodBringsBack(t *testing.T) {
	pod := pod("")
	assert.Equal(t, []ctrl.Request{request}, atOfPod(t.Context(), pod))
	pod.OwnerReferences = nil
	assert.Equal(t, []ctrl.Request{request}, atOfPod(t.Context(), pod), "an orphan has the finalizer still")
	pod.Name = "yay"
	assert.Empty(t, atOfPod(t.Context(), pod))
}

func TestTheQueueGoesByTheClock(t *testing.T) {
	clock := testclock.NewFakeClock(noon)
	q := (&Reconciler{Clock: clock}).newQueue("test", workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](time.Second, time.Minute))
	defer q.ShutDown()
	q.AddAfter(request, time.Hour)
	// The queue has three timers then: two for its own housekeeping.
	require.Eventually(t, func() bool { return clock.Waiters() >= 2 }, testcluster.TestTimeout, 20*time.Millisecond)
	assert.Zero(t, q.Len())
	require.Eventually(t, func() bool { clock.Step(time.Minute); return q.Len() == 1 }, testcluster.TestTimeout, 20*time.Millisecond)
	assert.GreaterOrEqual(t, clock.Since(noon), time.Hour)
}

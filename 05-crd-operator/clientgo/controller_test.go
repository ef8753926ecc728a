package clientgo

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned/fake"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/testcluster"
)

// What Ats can rely on is tested on a real server, in behaviour_test.go. The tests here show what a
// reconcile does with answers that such a server seldom gives, and how the queue and its workers go on.

func TestMain(m *testing.M) { testcluster.Main(m) }

// noon is when the tests take place: long after the schedule of newAt.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

var theKey = cache.NewObjectName("harbour", "bell")

func newAt(change ...func(*cnat.At)) *cnat.At {
	at := &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: "harbour", Name: "bell", UID: "uid", Generation: 1, ResourceVersion: "1"},
		Spec:       cnat.AtSpec{Schedule: "2026-01-01T12:00:00Z", Command: "echo YAY"},
	}
	for _, f := range change {
		f(at)
	}
	return at
}

func in(phase cnat.AtPhase) func(*cnat.At) { return func(at *cnat.At) { at.Status.Phase = phase } }

func newPod(change ...func(*corev1.Pod)) *corev1.Pod {
	pod := lifecycle.DesiredPod(newAt(), lifecycle.DefaultImage)
	for _, f := range change {
		f(pod)
	}
	return pod
}

func succeeded(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }

// env is a controller whose informers do not run: a test puts into its caches what they
// are to show, and calls reconcile itself. Behind it are fake clients, which hold objects
// and do nothing else that a server does.
type env struct {
	*controller
	t     *testing.T
	ats   *fake.Clientset
	kube  *kubefake.Clientset
	clock *testclock.FakeClock
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, ats: fake.NewSimpleClientset(), kube: kubefake.NewClientset(), clock: testclock.NewFakeClock(noon)}
	var err error
	e.controller, err = newController(e.ats, e.kube, Options{Clock: e.clock})
	require.NoError(t, err)
	t.Cleanup(e.queue.ShutDown)
	return e
}

// has puts the At into the cache and into the server.
func (e *env) has(at *cnat.At) {
	e.t.Helper()
	require.NoError(e.t, e.informers[0].GetStore().Add(at))
	require.NoError(e.t, e.ats.Tracker().Add(at.DeepCopy()))
}

// answer makes the server answer such requests with an error.
func (e *env) answer(verb, resource string, err error) {
	react := func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err }
	e.ats.PrependReactor(verb, resource, react)
	e.kube.PrependReactor(verb, resource, react)
}

func (e *env) reconcileOnce() error {
	return e.reconcile(klog.NewContext(e.t.Context(), logr.Discard()), theKey)
}

// mustWakeAfter waits until the key comes back, and sees that it does not come earlier.
func (e *env) mustWakeAfter(d time.Duration) {
	e.t.Helper()
	// The queue has a ticker, and a timer once something waits.
	require.Eventually(e.t, func() bool { return e.clock.Waiters() > 1 }, testcluster.TestTimeout, time.Millisecond)
	e.clock.SetTime(noon.Add(d - 1))
	assert.Zero(e.t, e.queue.Len())
	e.clock.SetTime(noon.Add(d))
	require.Eventually(e.t, func() bool { return e.queue.Len() == 1 }, testcluster.TestTimeout, time.Millisecond)
}

var (
	conflict  = apierrors.NewConflict(cnat.Resource("ats"), "bell", errors.New("it has changed"))
	notFound  = apierrors.NewNotFound(cnat.Resource("ats"), "bell")
	exists    = apierrors.NewAlreadyExists(cnat.Resource("ats"), "bell")
	errBroken = errors.New("no route to host")
)

func TestWhatTheServerAnswers(t *testing.T) {
	running, done := newAt(in(cnat.Running)), newAt(in(cnat.Done))
	tests := map[string]struct {
		at             *cnat.At // RUNNING, if nil
		verb, resource string
		err            error
		pod            *corev1.Pod   // in the cache
		want           string        // the error
		wake           time.Duration // after that
	}{
		"a status: the At has changed":         {verb: "update", resource: "ats", err: conflict, pod: newPod(succeeded), wake: staleRetry},
		"a status: the At is gone":             {verb: "update", resource: "ats", err: notFound, pod: newPod(succeeded)},
		"a status: nobody knows why":           {verb: "update", resource: "ats", err: errBroken, pod: newPod(succeeded), want: "writing the status of the At harbour/bell: no route to host"},
		"to read the At":                       {verb: "get", resource: "ats", err: errBroken, want: "reading the At harbour/bell: no route to host"},
		"a pod: nobody knows why":              {verb: "create", resource: "pods", err: errBroken, want: "creating the pod harbour/bell-pod: no route to host"},
		"a pod: one was there and is gone now": {verb: "create", resource: "pods", err: exists, wake: 10 * time.Second},
		"an event":                             {verb: "create", resource: "events", err: errBroken},
		"the finalizer: the pod is gone":       {at: done, verb: "patch", resource: "pods", err: notFound, pod: newPod(succeeded)},
		"the finalizer: nobody knows why":      {at: done, verb: "patch", resource: "pods", err: errBroken, pod: newPod(succeeded), want: "removing the finalizer of the pod harbour/bell-pod: no route to host"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.has(cmp.Or(tc.at, running))
			if tc.pod != nil {
				require.NoError(t, e.informers[1].GetStore().Add(tc.pod))
			}
			e.answer(tc.verb, tc.resource, tc.err)
			err := e.reconcileOnce()
			if tc.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, tc.want)
			}
			if tc.wake > 0 {
				e.mustWakeAfter(tc.wake)
			}
		})
	}
}

func TestWhatIsInTheCacheIsNotChanged(t *testing.T) {
	e := newEnv(t)
	at := newAt()
	e.has(at)
	require.NoError(t, e.reconcileOnce())
	assert.Equal(t, newAt(), at)
}

func TestWhichChangesAreEnqueued(t *testing.T) {
	spec := func(at *cnat.At) { at.ResourceVersion, at.Generation = "2", 2 }
	phase := func(at *cnat.At) { at.ResourceVersion, at.Status.Phase = "2", cnat.Running }
	condition := func(at *cnat.At) {
		at.ResourceVersion, at.Status.Conditions = "2", []metav1.Condition{{Type: cnat.Scheduled}}
	}
	another := func(at *cnat.At) { at.ResourceVersion, at.UID = "2", "another" }
	lamp := newPod(func(pod *corev1.Pod) { pod.Name = "lamp" })
	for name, tc := range map[string]struct {
		change   func(*env)
		enqueued bool
	}{
		"an At is new":                          {func(e *env) { e.enqueue(newAt()) }, true},
		"an At went while the watch was down":   {func(e *env) { e.enqueue(cache.DeletedFinalStateUnknown{Key: theKey.String()}) }, true},
		"the spec of an At has changed":         {func(e *env) { e.enqueueNextStep(newAt(), newAt(spec)) }, true},
		"the phase of an At has changed":        {func(e *env) { e.enqueueNextStep(newAt(), newAt(phase)) }, true},
		"it is another At of that name":         {func(e *env) { e.enqueueNextStep(newAt(), newAt(another)) }, true},
		"only a condition of an At has changed": {func(e *env) { e.enqueueNextStep(newAt(), newAt(condition)) }, false},
		"nothing has changed":                   {func(e *env) { e.enqueueNextStep(newAt(), newAt()) }, false},
		"a pod has changed":                     {func(e *env) { e.enqueueAtOf(newPod(succeeded)) }, true},
		"a pod went while the watch was down":   {func(e *env) { e.enqueueAtOf(cache.DeletedFinalStateUnknown{Key: "harbour/bell-pod"}) }, true},
		"a pod of another name is new":          {func(e *env) { e.enqueueAtOf(lamp) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			tc.change(e)
			if !tc.enqueued {
				require.Zero(t, e.queue.Len())
				return
			}
			require.Equal(t, 1, e.queue.Len())
			key, _ := e.queue.Get()
			assert.Equal(t, theKey, key)
		})
	}
}

func TestManagedFieldsAreDropped(t *testing.T) {
	pod := newPod()
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "me"}}
	trimmed, err := dropManagedFields(pod)
	require.NoError(t, err)
	assert.Equal(t, newPod(), trimmed)
	tombstone := cache.DeletedFinalStateUnknown{Key: "harbour/bell-pod"}
	trimmed, err = dropManagedFields(tombstone)
	require.NoError(t, err)
	assert.Equal(t, tombstone, trimmed)
}

// started runs the controller with fake clients and this reconcile, in a synctest bubble. The
// function that it returns stops it and waits.
func started(t *testing.T, reconcile func(context.Context, cache.ObjectName) error) (c *controller, stop func()) {
	c, err := newController(fake.NewSimpleClientset(), kubefake.NewClientset(), Options{Clock: clock.RealClock{}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(ctx, 1, reconcile)
	}()
	synctest.Wait()
	return c, func() { cancel(); <-done }
}

func TestAFailurePausesLongerEachTimeAndForgetsAfterSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var pauses []time.Duration
		c, stop := started(t, func(context.Context, cache.ObjectName) error {
			pauses, begun = append(pauses, time.Since(begun)), time.Now()
			if len(pauses) == 3 || len(pauses) == 5 {
				return nil
			}
			return errors.New("not yet")
		})
		c.queue.Add(theKey)
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		synctest.Wait()         // the worker waits for the next key
		begun = time.Now()
		c.queue.Add(theKey)
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		stop()
		ms := time.Millisecond
		assert.Equal(t, []time.Duration{0, 100 * ms, 200 * ms, 0, 100 * ms}, pauses)
	})
}

func TestAReconcileThatHasBegunIsFinishedWithinItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took []time.Duration
		c, stop := started(t, func(ctx context.Context, _ cache.ObjectName) error {
			begun := time.Now()
			<-ctx.Done()
			took = append(took, time.Since(begun))
			return ctx.Err()
		})
		c.queue.Add(theKey)
		synctest.Wait() // a worker has it
		c.queue.Add(cache.NewObjectName("harbour", "lamp"))
		stop()
		assert.Equal(t, []time.Duration{reconcileTimeout}, took, "of what waits, nothing begins")
	})
}

func TestNothingIsReconciledBeforeTheCachesAreFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := newController(fake.NewSimpleClientset(), kubefake.NewClientset(), Options{Clock: clock.RealClock{}})
		require.NoError(t, err)
		c.informers = nil // which would fill them
		c.queue.Add(theKey)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		c.run(ctx, 1, func(context.Context, cache.ObjectName) error {
			t.Error("it has reconciled")
			return nil
		})
	})
}

func TestAPanicIsAnErrorWithItsPlace(t *testing.T) {
	e := newEnv(t)
	e.has(newAt(in(cnat.Running)))
	e.ats.PrependReactor("get", "ats", func(clienttesting.Action) (bool, runtime.Object, error) { panic("nobody thought of this") })
	err := e.reconcileOnce()
	require.ErrorContains(t, err, "reconcile panicked: nobody thought of this")
	assert.ErrorContains(t, err, "controller_test.go")
}

package clientgo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// What Ats can rely on is tested on a real server, in behaviour_test.go. The tests here
// show which requests a reconcile makes, and what it does with the answers.

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

func later(at *cnat.At) { at.Spec.Schedule = noon.Add(time.Hour).Format(time.RFC3339) }

func newPod(change ...func(*corev1.Pod)) *corev1.Pod {
	pod := lifecycle.DesiredPod(newAt(), lifecycle.DefaultImage)
	for _, f := range change {
		f(pod)
	}
	return pod
}

func foreign(pod *corev1.Pod) { pod.OwnerReferences, pod.Finalizers = nil, nil }

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
	e := &env{t: t, ats: fake.NewClientset(), kube: kubefake.NewClientset(), clock: testclock.NewFakeClock(noon)}
	var err error
	e.controller, err = newController(e.ats, e.kube, Options{Clock: e.clock})
	require.NoError(t, err)
	t.Cleanup(e.queue.ShutDown)
	return e
}

// cached puts objects into the caches, and nowhere else.
func (e *env) cached(objects ...runtime.Object) {
	e.t.Helper()
	for _, obj := range objects {
		informer := e.informers[1]
		if _, ok := obj.(*cnat.At); ok {
			informer = e.informers[0]
		}
		require.NoError(e.t, informer.GetStore().Add(obj))
	}
}

// served puts objects into the server, and nowhere else.
func (e *env) served(objects ...runtime.Object) {
	e.t.Helper()
	for _, obj := range objects {
		obj = obj.DeepCopyObject()
		tracker := e.kube.Tracker()
		if _, ok := obj.(*cnat.At); ok {
			tracker = e.ats.Tracker()
		}
		require.NoError(e.t, tracker.Add(obj))
	}
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

// requests are those that were made, but for those about events. Those about pods come
// first.
func (e *env) requests() (made []string) {
	for _, action := range append(e.kube.Actions(), e.ats.Actions()...) {
		words := []string{action.GetVerb(), action.GetResource().Resource}
		if update, ok := action.(clienttesting.UpdateAction); ok && action.GetSubresource() == "status" {
			words = append(words, string(update.GetObject().(*cnat.At).Status.Phase))
		}
		if words[1] != "events" {
			made = append(made, strings.Join(words, " "))
		}
	}
	return made
}

// events are those that were recorded.
func (e *env) events() (recorded []string) {
	e.t.Helper()
	list, err := e.kube.Tracker().List(schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"},
		schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}, "harbour")
	require.NoError(e.t, err)
	for _, event := range list.(*eventsv1.EventList).Items {
		assert.Equal(e.t, "At", event.Regarding.Kind)
		assert.Equal(e.t, "uid", string(event.Regarding.UID))
		assert.Equal(e.t, "cnat", event.ReportingController)
		recorded = append(recorded, fmt.Sprint(event.Type, " ", event.Reason))
	}
	return recorded
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
	atResource  = cnat.Resource("ats")
	podResource = schema.GroupResource{Resource: "pods"}
	conflict    = apierrors.NewConflict(atResource, "bell", errors.New("it has changed"))
	notFound    = apierrors.NewNotFound(atResource, "bell")
	quota       = apierrors.NewForbidden(podResource, "bell-pod", errors.New("exceeded quota"))
	errBroken   = errors.New("no route to host")
)

func terminating() error {
	err := apierrors.NewForbidden(podResource, "bell-pod", errors.New("harbour is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

func TestAReconcileTakesOneStep(t *testing.T) {
	type objects []runtime.Object
	running, done := newAt(in(cnat.Running)), newAt(in(cnat.Done))
	late := newAt(in(cnat.Running), func(at *cnat.At) { at.Spec.StartingDeadlineSeconds = new(int64(9)) })
	tests := map[string]struct {
		cached, served objects
		want           []string
		event          string
	}{
		"before its time it is PENDING":                    {cached: objects{newAt(later)}, want: []string{"update ats PENDING"}},
		"when it is due it is RUNNING":                     {cached: objects{newAt(in(cnat.Pending))}, want: []string{"update ats RUNNING"}},
		"then it is read live, and has a pod":              {cached: objects{running}, want: []string{"create pods", "get ats"}, event: "Normal Started"},
		"it is gone, and the cache is stale":               {cached: objects{running}, served: objects{}, want: []string{"get ats"}},
		"it is DONE, and the cache is stale":               {cached: objects{running}, served: objects{done}, want: []string{"get ats"}},
		"its pod is not in the cache yet":                  {cached: objects{running}, served: objects{running, newPod()}, want: []string{"create pods", "get pods", "get ats"}},
		"it is too late to create what is there already":   {cached: objects{late}, served: objects{late, newPod()}, want: []string{"get pods", "get ats", "update ats RUNNING"}},
		"another pod has its name":                         {cached: objects{running}, served: objects{running, newPod(foreign)}, want: []string{"create pods", "get pods", "get ats", "update ats RUNNING"}, event: "Warning PodNameTaken"},
		"when the pod has ended it is DONE":                {cached: objects{running, newPod(succeeded)}, want: []string{"update ats DONE"}, event: "Normal Succeeded"},
		"when it is DONE the pod may go":                   {cached: objects{done, newPod(succeeded)}, want: []string{"patch pods"}},
		"when it is gone the pod may go":                   {cached: objects{newPod()}, want: []string{"patch pods", "get ats"}},
		"the cache of Ats is the stale one":                {cached: objects{newPod(succeeded)}, served: objects{running, newPod(succeeded)}, want: []string{"get ats", "update ats DONE"}, event: "Normal Succeeded"},
		"when it is gone there is nothing to do":           {want: []string{"get pods"}},
		"when it is gone a pod that lost its label may go": {served: objects{newPod()}, want: []string{"get pods", "patch pods", "get ats"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.cached(tc.cached...)
			if tc.served == nil {
				tc.served = tc.cached // the cache is not stale
			}
			e.served(tc.served...)
			require.NoError(t, e.reconcileOnce())
			assert.Equal(t, tc.want, e.requests())
			if tc.event == "" {
				assert.Empty(t, e.events())
			} else {
				assert.Equal(t, []string{tc.event}, e.events())
			}
		})
	}
}

func TestWhatTheServerRefuses(t *testing.T) {
	running, done := newAt(in(cnat.Running)), newAt(in(cnat.Done))
	tests := map[string]struct {
		at             *cnat.At // RUNNING, if nil
		verb, resource string
		err            error
		pod            *corev1.Pod   // in the cache
		want           string        // the error
		wake           time.Duration // after that
		event          string
	}{
		"a status, as the At has changed":         {verb: "update", resource: "ats", err: conflict, pod: newPod(succeeded), wake: staleRetry},
		"a status, as the At is gone":             {verb: "update", resource: "ats", err: notFound, pod: newPod(succeeded)},
		"a status, and nobody knows why":          {verb: "update", resource: "ats", err: errBroken, pod: newPod(succeeded), want: "writing the status of the At harbour/bell: no route to host"},
		"to read the At":                          {verb: "get", resource: "ats", err: errBroken, want: "reading the At harbour/bell: no route to host"},
		"a pod, as there is a quota":              {verb: "create", resource: "pods", err: quota, wake: 10 * time.Second, event: "Warning CreationRefused"},
		"a pod, as the namespace is terminating":  {verb: "create", resource: "pods", err: terminating()},
		"a pod, and nobody knows why":             {verb: "create", resource: "pods", err: errBroken, want: "creating the pod harbour/bell-pod: no route to host"},
		"a pod, as one was there and is gone now": {verb: "create", resource: "pods", err: apierrors.NewAlreadyExists(podResource, "bell-pod"), wake: 10 * time.Second},
		"an event":                            {verb: "create", resource: "events", err: errBroken},
		"the finalizer, as the pod is gone":   {at: done, verb: "patch", resource: "pods", err: notFound, pod: newPod(succeeded)},
		"the finalizer, and nobody knows why": {at: done, verb: "patch", resource: "pods", err: errBroken, pod: newPod(succeeded), want: "removing the finalizer of the pod harbour/bell-pod: no route to host"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e, at := newEnv(t), cmp.Or(tc.at, running)
			e.cached(at)
			e.served(at)
			if tc.pod != nil {
				e.cached(tc.pod)
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
			if tc.event == "" {
				assert.Empty(t, e.events())
			} else {
				assert.Equal(t, []string{tc.event}, e.events())
			}
		})
	}
}

func TestTheKeyComesBackWhenTheAtIsDue(t *testing.T) {
	e := newEnv(t)
	e.cached(newAt(later))
	e.served(newAt(later))
	require.NoError(t, e.reconcileOnce())
	e.mustWakeAfter(time.Hour)
}

func TestWhatIsInTheCacheIsNotChanged(t *testing.T) {
	e := newEnv(t)
	at := newAt()
	e.cached(at)
	e.served(at)
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
	c, err := newController(fake.NewClientset(), kubefake.NewClientset(), Options{Clock: clock.RealClock{}})
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
		c, stop := started(t, func(context.Context, cache.ObjectName) (err error) {
			defer recovered(&err)
			pauses, begun = append(pauses, time.Since(begun)), time.Now()
			switch len(pauses) {
			case 3, 5:
				return nil
			case 2:
				panic("a panic is an error like any other")
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
		c, err := newController(fake.NewClientset(), kubefake.NewClientset(), Options{Clock: clock.RealClock{}})
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

func TestAPanicIsReportedWithItsPlace(t *testing.T) {
	err := func() (err error) {
		defer recovered(&err)
		panic("nobody thought of this")
	}()
	require.ErrorContains(t, err, "reconcile panicked: nobody thought of this")
	assert.ErrorContains(t, err, "controller_test.go")
}

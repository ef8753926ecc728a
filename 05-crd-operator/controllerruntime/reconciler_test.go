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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// The answers of a server that a real one gives only in a bad moment.
var (
	resource    = schema.GroupResource{Resource: "things"}
	notFound    = apierrors.NewNotFound(resource, "yay")
	exists      = apierrors.NewAlreadyExists(resource, "yay")
	conflict    = apierrors.NewConflict(resource, "yay", errors.New("it has changed"))
	errBroken   = errors.New("the network is in a bad mood")
	terminating = &apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{
		Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}},
	}}}
)

var request = reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "harbour", Name: "yay"}}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// anAt is due in so much time.
func anAt(in time.Duration) *cnat.At {
	return &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: "harbour", Name: "yay", UID: "1", ResourceVersion: "10", Generation: 1},
		Spec:       cnat.AtSpec{Schedule: noon.Add(in).Format(time.RFC3339), Command: "echo YAY"},
	}
}

// answers is a cache and a server in one. What is not set is not there, or works.
type answers struct {
	client.Client
	at     *cnat.At
	pod    *corev1.Pod
	asked  []string
	ctx    context.Context // that of the last question
	get    error           // for a pod
	create error
	update error
	during func()        // while a status is written
	status cnat.AtStatus // the last that was written
}

func (a *answers) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *cnat.At:
		if a.at == nil {
			return notFound
		}
		a.at.DeepCopyInto(into)
	case *corev1.Pod:
		if a.get != nil {
			return a.get
		}
		if a.pod == nil {
			return notFound
		}
		a.pod.DeepCopyInto(into)
	}
	return nil
}

func (a *answers) Create(ctx context.Context, _ client.Object, _ ...client.CreateOption) error {
	a.ctx, a.asked = ctx, append(a.asked, "create")
	return a.create
}

func (a *answers) Status() client.SubResourceWriter { return statusAnswers{a: a} }

type statusAnswers struct {
	client.SubResourceWriter
	a *answers
}

func (s statusAnswers) Update(ctx context.Context, written client.Object, _ ...client.SubResourceUpdateOption) error {
	s.a.ctx, s.a.asked = ctx, append(s.a.asked, "update")
	if s.a.during != nil {
		s.a.during()
	}
	if s.a.update != nil {
		return s.a.update
	}
	s.a.status = written.(*cnat.At).Status
	written.SetResourceVersion("11")
	return nil
}

// newReconciler works at noon.
func newReconciler(a *answers) (*reconciler, *testclock.FakeClock) {
	clock := testclock.NewFakeClock(noon)
	return &reconciler{Client: a, server: a, events: events.NewFakeRecorder(10), clock: clock, memory: newMemory()}, clock
}

func TestAnswersThatAreNoFailure(t *testing.T) {
	tests := map[string]struct {
		in    time.Duration // when the At is due
		a     answers
		again time.Duration
		asked []string
	}{
		"the pod exists, and then it does not":   {in: 0, a: answers{create: exists}, again: pause, asked: []string{"create"}},
		"the namespace is terminating":           {in: 0, a: answers{create: terminating}, asked: []string{"create"}},
		"the At has changed":                     {in: time.Hour, a: answers{update: conflict}, again: pause, asked: []string{"update"}},
		"the At is gone":                         {in: time.Hour, a: answers{update: notFound}, asked: []string{"update"}},
		"all is well, and the At waits":          {in: time.Hour, again: time.Hour, asked: []string{"update"}},
		"all is well, and the pod will tell":     {in: 0, asked: []string{"create"}},
		"all is well, and nothing is to be done": {in: 0, a: answers{pod: podOf(anAt(0), corev1.PodRunning)}, asked: []string{"update"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.a.at = anAt(tc.in)
			r, _ := newReconciler(&tc.a)
			result, err := r.Reconcile(silent(t), request)
			require.NoError(t, err)
			assert.Equal(t, reconcile.Result{RequeueAfter: tc.again}, result)
			assert.Equal(t, tc.asked, tc.a.asked)
		})
	}
}

func TestFailures(t *testing.T) {
	tests := map[string]struct {
		in   time.Duration
		a    answers
		want string
	}{
		"to create the pod":   {0, answers{create: errBroken}, "creating the pod harbour/yay-pod: the network is in a bad mood"},
		"to look for the pod": {0, answers{get: errBroken}, "looking for the pod harbour/yay-pod: the network is in a bad mood"},
		"to write the status": {time.Hour, answers{update: errBroken}, "writing the status of the At harbour/yay: the network is in a bad mood"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.a.at = anAt(tc.in)
			r, _ := newReconciler(&tc.a)
			_, err := r.Reconcile(silent(t), request)
			require.EqualError(t, err, tc.want)
			require.ErrorIs(t, err, errBroken)
		})
	}
}

func TestTheTimeComesWhileTheStatusIsWritten(t *testing.T) {
	a := &answers{at: anAt(time.Second)}
	r, clock := newReconciler(a)
	a.during = func() { clock.Step(time.Second) }
	result, err := r.Reconcile(silent(t), request)
	require.NoError(t, err)
	assert.Zero(t, result)
	assert.Equal(t, []string{"update", "create"}, a.asked)
}

func TestToldToStopItBeginsNothing(t *testing.T) {
	a := &answers{at: anAt(0)}
	r, _ := newReconciler(a)
	ctx, stop := context.WithCancel(silent(t))
	stop()
	result, err := r.Reconcile(ctx, request)
	require.NoError(t, err)
	assert.Zero(t, result)
	assert.Empty(t, a.asked)
}

func TestToldToStopItFinishesWhatItHasBegun(t *testing.T) {
	ctx, stop := context.WithCancel(silent(t))
	a := &answers{at: anAt(time.Hour)}
	a.during = func() {
		stop()
		require.NoError(t, a.ctx.Err())
		_, limited := a.ctx.Deadline()
		assert.True(t, limited)
	}
	r, _ := newReconciler(a)
	_, err := r.Reconcile(ctx, request)
	require.NoError(t, err)
	assert.Equal(t, []string{"update"}, a.asked)
}

// TestTheOperatorRemembersWhatItsCachesDoNotShow has caches that stay as they
// were at first.
func TestTheOperatorRemembersWhatItsCachesDoNotShow(t *testing.T) {
	t.Run("a status that was written", func(t *testing.T) {
		a := &answers{at: anAt(time.Hour)}
		r, _ := newReconciler(a)
		for range 2 {
			result, err := r.Reconcile(silent(t), request)
			require.NoError(t, err)
			assert.Equal(t, reconcile.Result{RequeueAfter: time.Hour}, result)
		}
		assert.Equal(t, []string{"update"}, a.asked)
	})
	t.Run("a pod that was created", func(t *testing.T) {
		a := &answers{at: anAt(0)}
		r, _ := newReconciler(a)
		_, err := r.Reconcile(silent(t), request)
		require.NoError(t, err)
		server := &answers{pod: podOf(a.at, corev1.PodPending)}
		r.server = server
		_, err = r.Reconcile(silent(t), request)
		require.NoError(t, err)
		assert.Equal(t, []string{"create", "update"}, a.asked)
		assert.Equal(t, cnat.Running, a.status.Phase, "the pod was not deleted")
	})
	t.Run("and nothing that was refused", func(t *testing.T) {
		a := &answers{at: anAt(time.Second)}
		r, clock := newReconciler(a)
		_, err := r.Reconcile(silent(t), request)
		require.NoError(t, err)
		clock.Step(time.Second)
		a.pod, a.update = podOf(a.at, corev1.PodRunning), conflict
		for range 2 {
			_, err := r.Reconcile(silent(t), request)
			require.NoError(t, err)
		}
		assert.Equal(t, []string{"update", "update", "update"}, a.asked)
	})
}

func TestTheWatchMayBeFasterThanTheAnswer(t *testing.T) {
	a := &answers{at: anAt(time.Hour)}
	a.during = func() { a.at.ResourceVersion = "11" }
	r, _ := newReconciler(a)
	_, err := r.Reconcile(silent(t), request)
	require.NoError(t, err)
	assert.Empty(t, r.memory.written, "nobody would forget it")
}

func TestAnAtThatIsGoneIsForgotten(t *testing.T) {
	a := &answers{}
	r, _ := newReconciler(a)
	r.memory.start(anAt(0))
	r.memory.write(anAt(0))
	_, err := r.Reconcile(silent(t), request)
	require.NoError(t, err)
	assert.Empty(t, r.memory.started)
	assert.Empty(t, r.memory.written)
}

// podOf is the pod of the At, as the server has it.
func podOf(at *cnat.At, phase corev1.PodPhase) *corev1.Pod {
	pod := lifecycle.DesiredPod(at)
	pod.CreationTimestamp = metav1.NewTime(noon)
	pod.Status.Phase = phase
	return pod
}

// silent is a context for an operator that nobody reads the log of.
func silent(t *testing.T) context.Context { return klog.NewContext(t.Context(), logr.Discard()) }

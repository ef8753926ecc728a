package clientgo

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	testclock "k8s.io/utils/clock/testing"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/clientgo/queue"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned/fake"
	"example.com/hacking-a-controller/05-crd-operator/internal/testcluster"
)

// scene is an operator whose caches do not run: a test puts into them what they
// are to show, and calls reconcile itself. Behind it are fake clients, which hold
// objects and do nothing else a server does. All that is asked of them is noted.
type scene struct {
	*operator
	t     *testing.T
	ats   *fake.Clientset
	kube  *kubefake.Clientset
	clock *testclock.FakeClock
	stop  func() // ends the recorder, and waits for the events
}

// noon is when scenes take place: long after the schedule of newAt.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, ats: fake.NewClientset(), kube: kubefake.NewClientset(), clock: testclock.NewFakeClock(noon)}
	s.operator = &operator{ats: s.ats, kube: s.kube, clock: s.clock}
	s.queue = queue.New("test", s.clock, s.reconcile)
	t.Cleanup(s.queue.ShutDown)
	var err error
	s.caches, err = newCaches(s.ats, s.kube, "", s.queue.Enqueue)
	require.NoError(t, err)
	s.events, err = startEvents(t.Context(), s.kube)
	require.NoError(t, err)
	s.stop = sync.OnceFunc(s.events.stop)
	t.Cleanup(s.stop)
	return s
}

// cached puts the object into the cache, and nowhere else.
func (s *scene) cached(object runtime.Object) {
	s.t.Helper()
	require.NoError(s.t, s.informer(object).GetStore().Add(object))
}

func (s *scene) informer(object runtime.Object) cache.SharedIndexInformer {
	if _, ok := object.(*cnat.At); ok {
		return s.caches.atFactory.Cnat().V1alpha1().Ats().Informer()
	}
	return s.caches.podFactory.Core().V1().Pods().Informer()
}

// served puts the object into the server, and nowhere else.
func (s *scene) served(object runtime.Object) {
	s.t.Helper()
	object = object.DeepCopyObject()
	if _, ok := object.(*cnat.At); ok {
		require.NoError(s.t, s.ats.Tracker().Add(object))
	} else {
		require.NoError(s.t, s.kube.Tracker().Add(object))
	}
}

// refuse makes the server answer requests with this verb and resource so.
func (s *scene) refuse(verb, resource string, err error) {
	answer := func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err }
	s.ats.PrependReactor(verb, resource, answer)
	s.kube.PrependReactor(verb, resource, answer)
}

// pass is one pass of reconcile over the At.
func (s *scene) pass() error {
	return s.reconcile(klog.NewContext(s.t.Context(), logr.Discard()), theKey)
}

// asked is what the server was asked for, but for events, which are written in
// the background.
func (s *scene) asked() (asked []string) {
	for _, action := range append(s.kube.Actions(), s.ats.Actions()...) {
		if action.GetResource().Resource == "events" {
			continue
		}
		words := []string{action.GetVerb(), action.GetResource().Resource}
		if action.GetSubresource() != "" {
			words[1] += "/" + action.GetSubresource()
		}
		if update, ok := action.(clienttesting.UpdateAction); ok && action.GetVerb() == "update" {
			at := update.GetObject().(*cnat.At)
			words = append(words, string(at.Status.Phase), "after version", at.ResourceVersion)
		}
		asked = append(asked, strings.Join(words, " "))
	}
	s.kube.ClearActions()
	s.ats.ClearActions()
	return asked
}

// told is the reasons of the events that were written.
func (s *scene) told() (reasons []string) {
	s.t.Helper()
	s.stop()
	list, err := s.kube.Tracker().List(schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"},
		schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}, "harbour")
	require.NoError(s.t, err)
	for _, e := range eventsIn(list) {
		assert.Equal(s.t, "At", e.Regarding.Kind)
		assert.Equal(s.t, "uid", string(e.Regarding.UID))
		assert.Equal(s.t, "cnat", e.ReportingController)
		reasons = append(reasons, fmt.Sprint(e.Type, " ", e.Reason, ": ", e.Note))
	}
	return reasons
}

// wakesAfter waits until the queue sleeps for so long.
func (s *scene) wakesAfter(d time.Duration) {
	s.t.Helper()
	require.Eventually(s.t, s.clock.HasWaiters, testcluster.TestTimeout, time.Millisecond)
	require.Eventually(s.t, func() bool { return s.clock.Waiters() > 1 }, testcluster.TestTimeout, time.Millisecond, "beside the ticker of the queue")
	s.clock.SetTime(noon.Add(d - 1))
	assert.Zero(s.t, s.queue.Len())
	s.clock.SetTime(noon.Add(d))
	require.Eventually(s.t, func() bool { return s.queue.Len() == 1 }, testcluster.TestTimeout, time.Millisecond)
}

var (
	podResource = schema.GroupResource{Resource: "pods"}
	atResource  = cnat.Resource("ats")
	exists      = apierrors.NewAlreadyExists(podResource, "a-pod")
)

func ended(phase corev1.PodPhase) *corev1.Pod {
	pod := newPod()
	pod.Status.Phase = phase
	return pod
}

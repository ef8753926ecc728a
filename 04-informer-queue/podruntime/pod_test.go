package podruntime

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

func at(second int64) metav1.Time { return metav1.Unix(second, 0) }

func finished(second int64) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(second)}}}
}

func TestLife(t *testing.T) {
	start := new(at(100))
	unknown := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "ContainerStatusUnknown"}}}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		want   life
	}{
		"pending, not on a node":             {corev1.PodStatus{Phase: corev1.PodPending}, life{}},
		"pending, on a node":                 {corev1.PodStatus{Phase: corev1.PodPending, StartTime: start}, life{start: 100}},
		"running":                            {corev1.PodStatus{Phase: corev1.PodRunning, StartTime: start}, life{start: 100}},
		"running, one container has ended":   {corev1.PodStatus{Phase: corev1.PodRunning, StartTime: start, ContainerStatuses: []corev1.ContainerStatus{finished(120), {}}}, life{start: 100}},
		"all ended, but they start again":    {corev1.PodStatus{Phase: corev1.PodRunning, StartTime: start, ContainerStatuses: []corev1.ContainerStatus{finished(120)}}, life{start: 100}},
		"succeeded: the last one counts":     {corev1.PodStatus{Phase: corev1.PodSucceeded, StartTime: start, ContainerStatuses: []corev1.ContainerStatus{finished(120), finished(150), finished(130)}}, life{100, 150}},
		"failed":                             {corev1.PodStatus{Phase: corev1.PodFailed, StartTime: start, ContainerStatuses: []corev1.ContainerStatus{finished(120)}}, life{100, 120}},
		"failed while it was initialised":    {corev1.PodStatus{Phase: corev1.PodFailed, StartTime: start, InitContainerStatuses: []corev1.ContainerStatus{finished(110)}, ContainerStatuses: []corev1.ContainerStatus{{}}}, life{100, 110}},
		"a sidecar ended last":               {corev1.PodStatus{Phase: corev1.PodSucceeded, StartTime: start, InitContainerStatuses: []corev1.ContainerStatus{finished(140)}, ContainerStatuses: []corev1.ContainerStatus{finished(120)}}, life{100, 140}},
		"evicted: no container has a time":   {corev1.PodStatus{Phase: corev1.PodFailed, StartTime: start, ContainerStatuses: []corev1.ContainerStatus{unknown}, Conditions: []corev1.PodCondition{{LastTransitionTime: at(105)}, {LastTransitionTime: at(170)}, {}}}, life{100, 170}},
		"failed, and nothing says when":      {corev1.PodStatus{Phase: corev1.PodFailed, StartTime: start}, life{100, 100}},
		"a clock from before Unix":           {corev1.PodStatus{Phase: corev1.PodRunning, StartTime: new(at(-20))}, life{}},
		"the clock was set back meanwhile":   {corev1.PodStatus{Phase: corev1.PodSucceeded, StartTime: start, ContainerStatuses: []corev1.ContainerStatus{finished(60)}}, life{100, 100}},
		"refused by the node, never started": {corev1.PodStatus{Phase: corev1.PodFailed}, life{}},
	} {
		t.Run(name, func(t *testing.T) {
			created := metav1.ObjectMeta{CreationTimestamp: at(50)}
			assert.Equal(t, tc.want, sinceStart(&corev1.Pod{ObjectMeta: created, Status: tc.status}))
			assert.Equal(t, life{start: 50}, sinceCreation(&corev1.Pod{ObjectMeta: created, Status: tc.status}))
		})
	}
}

func TestTrim(t *testing.T) {
	whole := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "coast", Name: "bell", UID: "1", ResourceVersion: "7"},
		Status:     runs(time.Unix(100, 0)),
	}
	trimmed, err := trim(sinceStart)(whole)
	require.NoError(t, err)
	assert.Equal(t, &pod{namespace: "coast", name: "bell", uid: "1", version: "7", life: life{start: 100}}, trimmed)

	again, err := trim(sinceStart)(trimmed)
	require.NoError(t, err)
	assert.Same(t, trimmed, again, "what was trimmed stays as it is")
}

func TestTheInformerKnowsWhatAPodIs(t *testing.T) {
	p := &pod{namespace: "coast", name: "bell", uid: "1", version: "7"}
	key, err := cache.MetaNamespaceKeyFunc(p)
	require.NoError(t, err)
	assert.Equal(t, "coast/bell", key)
	object, err := meta.Accessor(p)
	require.NoError(t, err)
	assert.Equal(t, "7", object.GetResourceVersion())
	assert.EqualValues(t, "1", object.GetUID())
}

// Only this program reads its cache. A typed lister would panic, and so would every
// other user of a factory that had this transform.
func TestTheFactoryStillHasWholePods(t *testing.T) {
	client := fake.NewClientset(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "coast", Name: "bell"}})
	r, err := newRuntimes(client, metav1.NamespaceAll, sinceStart, io.Discard)
	require.NoError(t, err)
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	pods.Informer()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx, r)
	}()
	defer func() { cancel(); <-done; factory.Shutdown() }()
	factory.StartWithContext(ctx)
	require.True(t, cache.WaitFor(ctx, "", pods.Informer().HasSyncedChecker(), r.handled.HasSyncedChecker()))

	list, err := pods.Lister().List(labels.Everything())
	require.NoError(t, err)
	assert.Len(t, list, 1)
	require.Len(t, r.informer.GetStore().List(), 1)
	assert.IsType(t, &pod{}, r.informer.GetStore().List()[0])
	assert.Panics(t, func() { _, _ = corelisters.NewPodLister(r.informer.GetIndexer()).List(labels.Everything()) })
}

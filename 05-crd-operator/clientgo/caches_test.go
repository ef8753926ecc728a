package clientgo

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned/fake"
	"example.com/hacking-a-controller/05-crd-operator/internal/testcluster"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

func TestWhichChangesOfAnAtAreWork(t *testing.T) {
	at := func(change ...func(*cnat.At)) *cnat.At {
		at := newAt()
		for _, f := range change {
			f(at)
		}
		return at
	}
	status := func(at *cnat.At) { at.ResourceVersion, at.Status.Phase = "2", cnat.Running }
	spec := func(at *cnat.At) { at.ResourceVersion, at.Generation, at.Spec.Command = "2", 2, "echo NAY" }
	another := func(at *cnat.At) { at.ResourceVersion, at.UID = "2", "another" }

	label := func(at *cnat.At) { at.ResourceVersion, at.Labels = "2", map[string]string{"a": "b"} }

	tests := map[string]struct {
		tell     func(cache.ResourceEventHandler)
		enqueued bool
	}{
		"it is new":                        {func(h cache.ResourceEventHandler) { h.OnAdd(at(), false) }, true},
		"it wants something else":          {func(h cache.ResourceEventHandler) { h.OnUpdate(at(), at(spec)) }, true},
		"its phase has changed":            {func(h cache.ResourceEventHandler) { h.OnUpdate(at(), at(status)) }, true},
		"its labels have changed":          {func(h cache.ResourceEventHandler) { h.OnUpdate(at(), at(label)) }, false},
		"nothing has changed":              {func(h cache.ResourceEventHandler) { h.OnUpdate(at(), at()) }, false},
		"it is another one of that name":   {func(h cache.ResourceEventHandler) { h.OnUpdate(at(), at(another)) }, true},
		"it is gone":                       {func(h cache.ResourceEventHandler) { h.OnDelete(at()) }, true},
		"it is gone, and nobody saw it go": {func(h cache.ResourceEventHandler) { h.OnDelete(tombstone(at())) }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var enqueued []cache.ObjectName
			tc.tell(atHandler(func(key cache.ObjectName) { enqueued = append(enqueued, key) }))
			if tc.enqueued {
				assert.Equal(t, []cache.ObjectName{theKey}, enqueued)
			} else {
				assert.Empty(t, enqueued)
			}
		})
	}
}

func TestWhichChangesOfAPodAreWork(t *testing.T) {
	ours := newPod()
	foreign := newPod()
	foreign.Name = "other"
	tests := map[string]struct {
		tell     func(cache.ResourceEventHandler)
		enqueued bool
	}{
		"it is new":                        {func(h cache.ResourceEventHandler) { h.OnAdd(ours, false) }, true},
		"it has changed":                   {func(h cache.ResourceEventHandler) { h.OnUpdate(ours, ours) }, true},
		"it is gone":                       {func(h cache.ResourceEventHandler) { h.OnDelete(ours) }, true},
		"it is gone, and nobody saw it go": {func(h cache.ResourceEventHandler) { h.OnDelete(tombstone(ours)) }, true},
		"it became ours":                   {func(h cache.ResourceEventHandler) { h.OnUpdate(foreign, ours) }, true},
		"somebody else's is new":           {func(h cache.ResourceEventHandler) { h.OnAdd(foreign, false) }, false},
		"somebody else's has changed":      {func(h cache.ResourceEventHandler) { h.OnUpdate(foreign, foreign) }, false},
		"somebody else's is gone":          {func(h cache.ResourceEventHandler) { h.OnDelete(tombstone(foreign)) }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var enqueued []cache.ObjectName
			tc.tell(podHandler(func(key cache.ObjectName) { enqueued = append(enqueued, key) }))
			if tc.enqueued {
				assert.Equal(t, []cache.ObjectName{theKey}, enqueued, "the At, not the pod")
			} else {
				assert.Empty(t, enqueued)
			}
		})
	}
}

func TestCachesHoldAllAtsAndThePodsOfTheOperator(t *testing.T) {
	s := newScene(t)
	s.served(newAt())
	s.served(newPod())
	require.Len(t, s.caches.handled, 2)
	for _, synced := range s.caches.handled {
		assert.False(t, synced(), "before the start")
	}

	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	defer s.caches.wait()
	defer cancel()
	s.caches.start(ctx)
	require.True(t, cache.WaitForCacheSync(ctx.Done(), s.caches.handled...))
	assert.Equal(t, 1, s.queue.Len(), "by then the handlers have been told")
	require.NotEmpty(t, s.kube.Actions())
	for _, action := range s.kube.Actions() {
		switch action := action.(type) {
		case clienttesting.ListAction:
			assert.Equal(t, lifecycle.PodSelector, action.GetListRestrictions().Labels.String())
		case clienttesting.WatchAction:
			assert.Equal(t, lifecycle.PodSelector, action.GetWatchRestrictions().Labels.String())
		}
	}
	_, err := s.caches.ats.Ats("harbour").Get("a")
	require.NoError(t, err)
	_, err = s.caches.pods.Pods("harbour").Get("a-pod")
	require.NoError(t, err)
}

func TestCachesAskForOneNamespace(t *testing.T) {
	ats, kube := fake.NewClientset(), kubefake.NewClientset()
	c, err := newCaches(ats, kube, "harbour", func(cache.ObjectName) {})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	defer c.wait()
	defer cancel()
	c.start(ctx)
	require.True(t, cache.WaitForCacheSync(ctx.Done(), c.handled...))
	actions := append(ats.Actions(), kube.Actions()...)
	require.GreaterOrEqual(t, len(actions), 2)
	for _, action := range actions {
		assert.Equal(t, "harbour", action.GetNamespace(), action.GetResource())
	}
}

func TestCachesDoNotKeepWhoWroteWhat(t *testing.T) {
	managed := []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	for _, object := range []metav1.Object{
		&cnat.At{ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: managed}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: managed}},
	} {
		kept, err := dropManagedFields(object)
		require.NoError(t, err)
		assert.Same(t, object, kept)
		assert.Equal(t, "a", object.GetName())
		assert.Empty(t, object.GetManagedFields())
	}
	kept, err := dropManagedFields(tombstone(newAt()))
	require.NoError(t, err)
	assert.Equal(t, tombstone(newAt()), kept)
}

// theKey is that of newAt, and newPod is its pod.
var theKey = cache.NewObjectName("harbour", "a")

func newAt() *cnat.At {
	return &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: "harbour", Name: "a", UID: "uid", ResourceVersion: "1", Generation: 1},
		Spec:       cnat.AtSpec{Schedule: "2019-04-12T10:12:00Z", Command: "echo YAY"},
	}
}

func newPod() *corev1.Pod { return lifecycle.DesiredPod(newAt()) }

// tombstone is what a handler gets when an object went while the watch was down.
func tombstone(object metav1.Object) cache.DeletedFinalStateUnknown {
	return cache.DeletedFinalStateUnknown{Key: cache.MetaObjectToName(object).String(), Obj: object}
}

func version(v string) *cnat.At {
	at := newAt()
	at.ResourceVersion = v
	return at
}

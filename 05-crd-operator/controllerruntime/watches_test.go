package controllerruntime

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/internal/testcluster"
)

func TestWhichChangesOfAnAtMatter(t *testing.T) {
	tests := map[string]struct {
		change func(*cnat.At)
		want   bool
	}{
		"none, a resync": {func(*cnat.At) {}, false},
		"of the status":  {func(at *cnat.At) { at.Status.Phase = cnat.Running }, false},
		"of a label":     {func(at *cnat.At) { at.Labels = map[string]string{"a": "b"} }, false},
		"of the spec":    {func(at *cnat.At) { at.Generation++ }, true},
		"another At of the same name, both of generation 1": {func(at *cnat.At) { at.UID = "2" }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, after := anAt(0), anAt(0)
			after.ResourceVersion = "11"
			tc.change(after)
			assert.Equal(t, tc.want, changed(newMemory()).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}))
		})
	}
	assert.True(t, changed(newMemory()).Create(event.CreateEvent{Object: anAt(0)}))
	assert.True(t, changed(newMemory()).Delete(event.DeleteEvent{Object: anAt(0)}))
}

func TestTheMemoryHearsOfEveryChange(t *testing.T) {
	m := newMemory()
	m.write(version("11", "1", cnat.Pending))
	changed(m).Update(event.UpdateEvent{ObjectOld: version("10", "1", ""), ObjectNew: version("11", "1", cnat.Pending)})
	assert.Empty(t, m.written)
}

func TestTheQueueGoesByTheClock(t *testing.T) {
	clock := testclock.NewFakeClock(noon)
	q := queue(clock)("test", workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Minute))
	defer q.ShutDown()
	q.AddAfter(request, time.Hour)
	// The queue has three timers then: two for its own housekeeping.
	require.Eventually(t, func() bool { return clock.Waiters() >= 2 }, testcluster.TestTimeout, often)
	assert.Zero(t, q.Len())
	require.Eventually(t, func() bool { clock.Step(time.Minute); return q.Len() == 1 }, testcluster.TestTimeout, often)
	assert.GreaterOrEqual(t, clock.Since(noon), time.Hour)
}

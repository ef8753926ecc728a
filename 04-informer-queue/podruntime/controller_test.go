package main

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

// In these tests the clock is fake, and the queue and its workers are the real ones.

// work takes a second.
func work() { time.Sleep(time.Second) } //nolint:forbidigo // fake time

// start runs the controller in a synctest bubble, silently, until the test ends or stop is called.
func start(t *testing.T, c *controller, workers int, reconcile func(context.Context, string) error, synced ...cache.DoneChecker) (stop func()) {
	t.Cleanup(c.queue.ShutDown) // also if run doesn't
	_, stop = testcluster.Run(t, func(ctx context.Context) error {
		c.run(klog.NewContext(ctx, logr.Discard()), workers, reconcile, synced...)
		return nil
	})
	synctest.Wait()
	return stop
}

// wait lets the time pass, and everything happen that is due.
func wait(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // fake time
	synctest.Wait()
}

func TestAHandlerAddsTheNamespace(t *testing.T) {
	c := newController(nil, io.Discard)
	defer c.queue.ShutDown()
	c.enqueue(pod("coast", "bell"))
	c.enqueue(pod("coast", "buoy"))
	c.enqueue(cache.DeletedFinalStateUnknown{Key: "harbour/lamp", Obj: pod("harbour", "lamp")})
	require.Equal(t, 2, c.queue.Len(), "two pods of a namespace are one key, and a deletion that the watch missed is one")
	first, _ := c.queue.Get()
	second, _ := c.queue.Get()
	assert.Equal(t, []string{"coast", "harbour"}, []string{first, second})
}

func TestReconcileHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newController(nil, io.Discard)
		var left time.Duration
		start(t, c, 1, func(ctx context.Context, _ string) error {
			deadline, _ := ctx.Deadline()
			left = time.Until(deadline)
			return nil
		})
		c.queue.Add("coast")
		synctest.Wait()
		assert.Equal(t, 20*time.Second, left)
	})
}

func TestKeysAreReconciledSideBySideButNoKeyTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var finished atomic.Int32
		c := newController(nil, io.Discard)
		start(t, c, 2, func(context.Context, string) error {
			work()
			finished.Add(1)
			return nil
		})
		c.queue.Add("coast")
		synctest.Wait() // a worker is processing it, and the other one is free
		c.queue.Add("coast")
		c.queue.Add("coast")
		wait(1500 * time.Millisecond)
		assert.EqualValues(t, 1, finished.Load(), "no two workers process one key")
		wait(time.Minute)
		assert.EqualValues(t, 2, finished.Load(), "the changes that came meanwhile are not lost")
		for _, key := range []string{"coast", "harbour", "open-sea", "pier"} {
			c.queue.Add(key)
		}
		wait(1500 * time.Millisecond)
		assert.EqualValues(t, 2+2, finished.Load())
		wait(time.Second)
		assert.EqualValues(t, 2+4, finished.Load(), "two rounds of two")
	})
}

func TestAFailurePausesLongerEachTimeAndForgetsAfterSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		calls := map[string][]time.Duration{} // when each key was reconciled
		c := newController(nil, io.Discard)
		stop := start(t, c, 1, func(_ context.Context, key string) error {
			calls[key] = append(calls[key], time.Since(began).Round(10*time.Millisecond))
			if n := len(calls[key]); key != "coast" || n == 4 || n > 1000 { // without pauses it would go on forever
				return nil
			}
			return errors.New("not yet")
		})
		c.queue.Add("coast")
		wait(time.Hour)
		c.queue.Add("coast")
		wait(time.Hour)
		c.queue.Add("harbour")
		synctest.Wait()
		assert.Len(t, calls["harbour"], 1, "a pause delays no other key")
		stop()

		times := calls["coast"]
		require.Greater(t, len(times), 30)
		ms := time.Millisecond
		assert.Equal(t, []time.Duration{0, 100 * ms, 300 * ms, 700 * ms, time.Hour, time.Hour + 100*ms}, times[:6])
		assert.Equal(t, time.Minute, times[30]-times[29], "once a minute")
	})
}

func TestStopFinishesWhatIsBeingProcessedAndDropsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var finished []string
		c := newController(nil, io.Discard)
		stop := start(t, c, 1, func(ctx context.Context, key string) error {
			work()
			finished = append(finished, key)
			assert.NoError(t, ctx.Err(), "the end of the program does not end a reconcile")
			return nil
		})
		c.queue.Add("being processed")
		synctest.Wait()
		c.queue.Add("waiting")
		begun := time.Now()
		stop()
		assert.Equal(t, []string{"being processed"}, finished)
		assert.Equal(t, time.Second, time.Since(begun))
	})
}

// syncing is a cache that has synced when it is closed.
type syncing chan struct{}

func (syncing) Name() string            { return "a cache" }
func (s syncing) Done() <-chan struct{} { return s }

func TestNothingIsReconciledBeforeTheCachesHaveSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		count := func(context.Context, string) error { calls.Add(1); return nil }
		synced := make(syncing)
		c := newController(nil, io.Discard)
		start(t, c, 1, count, synced)
		c.queue.Add("coast")
		wait(time.Minute)
		assert.Zero(t, calls.Load())
		close(synced)
		synctest.Wait()
		assert.EqualValues(t, 1, calls.Load())
	})
}

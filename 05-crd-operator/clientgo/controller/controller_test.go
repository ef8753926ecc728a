package controller

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run runs the controller in the background of a synctest bubble, silently. The
// function that it returns stops it and waits.
func run[K comparable](t *testing.T, c *Controller[K], workers int, reconcile Reconcile[K]) (stop func()) {
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx, workers, reconcile)
	}()
	synctest.Wait()
	return func() {
		cancel()
		<-done
	}
}

func TestAKeyThatWaitsIsReconciledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		c := New[string]("test", clock.RealClock{})
		reconcile := func(context.Context, string) error { calls.Add(1); return nil }
		for range 10 {
			c.Enqueue("a")
		}
		assert.Equal(t, 1, c.Len())
		defer run(t, c, 4, reconcile)()
		synctest.Wait()
		assert.EqualValues(t, 1, calls.Load())
	})
}

func TestAKeyBeingProcessedIsReconciledOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls, atOnce, most atomic.Int32
		c := New[string]("test", clock.RealClock{})
		reconcile := func(context.Context, string) error {
			calls.Add(1)
			most.Store(max(most.Load(), atOnce.Add(1)))
			defer atOnce.Add(-1)
			time.Sleep(time.Second) //nolint:forbidigo // fake time: the work takes a second
			return nil
		}
		defer run(t, c, 4, reconcile)()
		c.Enqueue("a")
		synctest.Wait() // a worker is processing it
		c.Enqueue("a")
		c.Enqueue("a")
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		assert.EqualValues(t, 2, calls.Load(), "the change that came meanwhile is not lost")
		assert.EqualValues(t, 1, most.Load(), "no two workers process one key")
	})
}

func TestKeysAreReconciledSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New[int]("test", clock.RealClock{})
		reconcile := func(context.Context, int) error {
			time.Sleep(time.Second) //nolint:forbidigo // fake time: the work takes a second
			return nil
		}
		for key := range 8 {
			c.Enqueue(key)
		}
		start := time.Now()
		stop := run(t, c, 4, reconcile)
		for c.Len() > 0 {
			time.Sleep(time.Millisecond) //nolint:forbidigo // fake time
		}
		stop()
		assert.InDelta(t, 2*time.Second, time.Since(start), float64(10*time.Millisecond), "two rounds of four")
	})
}

func TestAFailurePausesLongerEachTimeAndForgetsAfterSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		c := New[string]("test", clock.RealClock{})
		reconcile := func(context.Context, string) error {
			times = append(times, time.Now())
			if len(times) == 4 || len(times) == 6 {
				return nil
			}
			return errors.New("not yet")
		}
		stop := run(t, c, 1, reconcile)
		c.Enqueue("a")
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		c.Enqueue("a")
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		stop()

		var gaps []time.Duration
		for i := range times[1:] {
			gaps = append(gaps, times[i+1].Sub(times[i]).Round(10*time.Millisecond))
		}
		ms := time.Millisecond
		assert.Equal(t, []time.Duration{100 * ms, 200 * ms, 400 * ms, time.Minute - 700*ms, 100 * ms}, gaps)
	})
}

func TestPausesEndAtAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last, gap time.Duration
		start := time.Now()
		c := New[string]("test", clock.RealClock{})
		reconcile := func(context.Context, string) error {
			gap, last = time.Since(start)-last, time.Since(start)
			return errors.New("never")
		}
		stop := run(t, c, 1, reconcile)
		c.Enqueue("a")
		time.Sleep(time.Hour) //nolint:forbidigo // fake time
		stop()
		assert.InDelta(t, time.Minute, gap, float64(100*time.Millisecond))
	})
}

func TestAFailingKeyDoesNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var good atomic.Int32
		c := New[string]("test", clock.RealClock{})
		reconcile := func(_ context.Context, key string) error {
			if key == "bad" {
				return errors.New("never")
			}
			good.Add(1)
			return nil
		}
		defer run(t, c, 1, reconcile)()
		c.Enqueue("bad")
		time.Sleep(10 * time.Minute) //nolint:forbidigo // fake time: bad now pauses for a minute
		c.Enqueue("good")
		synctest.Wait()
		assert.EqualValues(t, 1, good.Load())
	})
}

func TestAPanicIsAnError(t *testing.T) {
	c := &Controller[string]{}
	err := c.guard(func(context.Context, string) error { panic("nobody thought of this") })(t.Context(), "a")
	require.ErrorContains(t, err, "reconcile panicked: nobody thought of this")
	assert.ErrorContains(t, err, "controller_test.go", "it says where")
}

func TestAPanicIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		c := New[string]("test", clock.RealClock{})
		reconcile := func(context.Context, string) error {
			if calls.Add(1) == 1 {
				panic("nobody thought of this")
			}
			return nil
		}
		defer run(t, c, 1, reconcile)()
		c.Enqueue("a")
		time.Sleep(time.Second) //nolint:forbidigo // fake time
		assert.EqualValues(t, 2, calls.Load())
	})
}

func TestStopFinishesWhatIsBeingProcessedAndDropsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var finished []string
		c := New[string]("test", clock.RealClock{})
		reconcile := func(ctx context.Context, key string) error {
			time.Sleep(time.Second) //nolint:forbidigo // fake time: the work takes a second
			mu.Lock()
			defer mu.Unlock()
			finished = append(finished, key)
			return ctx.Err()
		}
		stop := run(t, c, 1, reconcile)
		c.Enqueue("being processed")
		synctest.Wait()
		c.Enqueue("waiting")
		start := time.Now()
		stop()
		assert.Equal(t, []string{"being processed"}, finished)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestReconcileHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got time.Duration
		start := time.Now()
		c := New[string]("test", clock.RealClock{})
		reconcile := func(ctx context.Context, _ string) error {
			<-ctx.Done()
			got = time.Since(start)
			return nil
		}
		c.Timeout = 5 * time.Second
		stop := run(t, c, 1, reconcile)
		c.Enqueue("a")
		synctest.Wait()
		stop()
		assert.Equal(t, 5*time.Second, got)
	})
}

func TestTheEndOfTheControllerDoesNotEndACall(t *testing.T) {
	c := &Controller[string]{Timeout: time.Minute}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, c.guard(func(ctx context.Context, _ string) error { return ctx.Err() })(ctx, "a"))
}

// gracePeriod is how long after SIGTERM the kubelet kills the processes of a pod, unless it
// says otherwise.
const gracePeriod = 30 * time.Second

func TestAPodEndsBeforeItIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New[string]("test", clock.RealClock{})
		stop := run(t, c, 1, func(ctx context.Context, _ string) error { <-ctx.Done(); return nil }) // no answer
		c.Enqueue("a")
		synctest.Wait()
		asked := time.Now()
		stop()
		assert.Less(t, time.Since(asked), gracePeriod) // fake time
	})
}

func TestWithoutATimeoutItHasNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New[string]("test", clock.RealClock{})
		c.Timeout = 0
		limited := true
		stop := run(t, c, 1, func(ctx context.Context, _ string) error {
			_, limited = ctx.Deadline()
			return nil
		})
		c.Enqueue("a")
		synctest.Wait()
		stop()
		assert.False(t, limited)
	})
}

// syncing is a cache that has synced when it is closed.
type syncing chan struct{}

func (syncing) Name() string            { return "a cache" }
func (s syncing) Done() <-chan struct{} { return s }

func TestNothingIsReconciledBeforeTheCachesHaveSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		synced := make(syncing)
		var early atomic.Bool
		var calls atomic.Int32
		c := New[string]("test", clock.RealClock{})
		reconcile := func(context.Context, string) error {
			early.Store(!cache.IsDone(synced))
			calls.Add(1)
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Run(ctx, 1, reconcile, synced)
		}()
		c.Enqueue("a")
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		assert.Zero(t, calls.Load())
		close(synced)
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		assert.EqualValues(t, 1, calls.Load())
		assert.False(t, early.Load())
		cancel()
		<-done
	})
}

func TestStopBeforeTheCachesHaveSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New[string]("test", clock.RealClock{})
		reconcile := func(context.Context, string) error { return nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c.Run(ctx, 1, reconcile, make(syncing))
		assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
	})
}

func TestEnqueueAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at time.Duration
		c := New[string]("test", clock.RealClock{})
		reconcile := func(context.Context, string) error { at = time.Since(start); return nil }
		stop := run(t, c, 1, reconcile)
		c.EnqueueAfter("a", time.Hour)
		time.Sleep(2 * time.Hour) //nolint:forbidigo // fake time
		stop()
		assert.Equal(t, time.Hour, at)
	})
}

func TestEnqueueAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		c := New[string]("test", clock.RealClock{})
		reconcile := func(context.Context, string) error { at = append(at, time.Since(start)); return nil }
		stop := run(t, c, 1, reconcile)
		c.EnqueueAt("a", start.Add(2*time.Hour))
		c.EnqueueAt("a", start.Add(time.Hour))   // earlier: it comes once, at this time
		c.EnqueueAt("a", start.Add(3*time.Hour)) // later: it does not come then
		c.EnqueueAt("b", start.Add(-time.Hour))  // past: it comes at once
		time.Sleep(4 * time.Hour)                //nolint:forbidigo // fake time
		stop()
		assert.Equal(t, []time.Duration{0, time.Hour}, at)
	})
}

func TestAKeyIsDueByTheClockOfTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
		fake := testclock.NewFakeClock(noon)
		c := New[string]("test", fake)
		defer c.queue.ShutDown()
		due := func(at time.Time) int {
			fake.SetTime(at)
			synctest.Wait()
			return c.Len()
		}
		c.EnqueueAt("a", noon.Add(time.Hour))
		synctest.Wait()
		assert.Equal(t, 0, due(noon.Add(time.Hour-1)))
		assert.Equal(t, 1, due(noon.Add(time.Hour)))
	})
}

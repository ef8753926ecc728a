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
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run runs the controller in the background of a synctest bubble, silently. The
// function that it returns stops it and waits.
func run[K comparable](t *testing.T, c *Controller[K], workers int, reconcile Reconcile[K], synced ...cache.DoneChecker) (stop func()) {
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx, workers, reconcile, synced...)
	}()
	synctest.Wait()
	return func() {
		cancel()
		select {
		case <-done:
		case <-time.After(time.Hour): // fake time
			panic("Run does not return, though its context ended an hour ago")
		}
	}
}

func TestAPanicIsAnError(t *testing.T) {
	c := &Controller[string]{}
	err := c.guard(func(context.Context, string) error { panic("nobody thought of this") })(t.Context(), "a")
	require.ErrorContains(t, err, "reconcile panicked: nobody thought of this")
	assert.ErrorContains(t, err, "controller_test.go", "it says where")
}

func TestReconcileHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Controller[string]{Timeout: 5 * time.Second}
		start := time.Now()
		err := c.guard(func(ctx context.Context, _ string) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Hour): // fake time
				return errors.New("an hour has passed")
			}
		})(t.Context(), "a")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 5*time.Second, time.Since(start))
	})
}

func TestWithoutATimeoutItHasNoDeadline(t *testing.T) {
	c := &Controller[string]{}
	require.NoError(t, c.guard(func(ctx context.Context, _ string) error {
		_, limited := ctx.Deadline()
		assert.False(t, limited)
		return nil
	})(t.Context(), "a"))
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
		c := New[string]("test")
		stop := run(t, c, 1, func(ctx context.Context, _ string) error { <-ctx.Done(); return nil }) // no answer
		c.Enqueue("a")
		synctest.Wait()
		asked := time.Now()
		stop()
		assert.Less(t, time.Since(asked), gracePeriod) // fake time
	})
}

func TestAKeyThatWaitsIsReconciledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		c := New[string]("test")
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
		c := New[string]("test")
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
		var finished atomic.Int32
		c := New[int]("test")
		reconcile := func(context.Context, int) error {
			time.Sleep(time.Second) //nolint:forbidigo // fake time: the work takes a second
			finished.Add(1)
			return nil
		}
		for key := range 8 {
			c.Enqueue(key)
		}
		defer run(t, c, 4, reconcile)()
		time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // fake time
		assert.EqualValues(t, 4, finished.Load())
		time.Sleep(time.Second) //nolint:forbidigo // fake time
		assert.EqualValues(t, 8, finished.Load(), "two rounds of four")
	})
}

func TestAFailurePausesLongerEachTimeAndForgetsAfterSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		var failures []int
		c := New[string]("test")
		reconcile := func(_ context.Context, key string) error {
			times, failures = append(times, time.Now()), append(failures, c.Failures(key))
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

		require.NotEmpty(t, times)
		var gaps []time.Duration
		for i := range times[1:] {
			gaps = append(gaps, times[i+1].Sub(times[i]).Round(10*time.Millisecond))
		}
		ms := time.Millisecond
		assert.Equal(t, []time.Duration{100 * ms, 200 * ms, 400 * ms, time.Minute - 700*ms, 100 * ms}, gaps)
		assert.Equal(t, []int{0, 1, 2, 3, 0, 1}, failures)
	})
}

func TestPausesEndAtAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls int
		var last, gap time.Duration
		start := time.Now()
		c := New[string]("test")
		reconcile := func(context.Context, string) error {
			gap, last = time.Since(start)-last, time.Since(start)
			if calls++; calls > 1000 {
				return nil // without pauses it would go on for ever
			}
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
		var good, bad atomic.Int32
		c := New[string]("test")
		reconcile := func(_ context.Context, key string) error {
			if key == "bad" && bad.Add(1) <= 1000 { // without pauses it would go on for ever
				return errors.New("never")
			}
			if key == "good" {
				good.Add(1)
			}
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

func TestAPanicIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		c := New[string]("test")
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
		c := New[string]("test")
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

// syncing is a cache that has synced when it is closed.
type syncing chan struct{}

func (syncing) Name() string            { return "a cache" }
func (s syncing) Done() <-chan struct{} { return s }

func TestNothingIsReconciledBeforeTheCachesHaveSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		synced := make(syncing)
		var early atomic.Bool
		var calls atomic.Int32
		c := New[string]("test")
		reconcile := func(context.Context, string) error {
			early.Store(!cache.IsDone(synced))
			calls.Add(1)
			return nil
		}
		defer run(t, c, 1, reconcile, synced)()
		c.Enqueue("a")
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		assert.Zero(t, calls.Load())
		close(synced)
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		assert.EqualValues(t, 1, calls.Load())
		assert.False(t, early.Load())
	})
}

func TestStopBeforeTheCachesHaveSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New[string]("test")
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
		c := New[string]("test")
		reconcile := func(context.Context, string) error { at = time.Since(start); return nil }
		stop := run(t, c, 1, reconcile)
		c.EnqueueAfter("a", time.Hour)
		time.Sleep(2 * time.Hour) //nolint:forbidigo // fake time
		stop()
		assert.Equal(t, time.Hour, at)
	})
}

package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run runs the queue in the background of a synctest bubble, silently. The
// function that it returns stops it and waits.
func run[K comparable](t *testing.T, q *Queue[K], workers int) (stop func()) {
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Run(ctx, workers)
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
		q := New("test", clock.RealClock{}, func(context.Context, string) error { calls.Add(1); return nil })
		for range 10 {
			q.Enqueue("a")
		}
		assert.Equal(t, 1, q.Len())
		defer run(t, q, 4)()
		synctest.Wait()
		assert.EqualValues(t, 1, calls.Load())
	})
}

func TestAKeyInHandIsReconciledOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls, atOnce, most atomic.Int32
		q := New("test", clock.RealClock{}, func(context.Context, string) error {
			calls.Add(1)
			most.Store(max(most.Load(), atOnce.Add(1)))
			defer atOnce.Add(-1)
			time.Sleep(time.Second) //nolint:forbidigo // fake time: the work takes a second
			return nil
		})
		defer run(t, q, 4)()
		q.Enqueue("a")
		synctest.Wait() // a worker has it in hand
		q.Enqueue("a")
		q.Enqueue("a")
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		assert.EqualValues(t, 2, calls.Load(), "the change that came meanwhile is not lost")
		assert.EqualValues(t, 1, most.Load(), "one key is never in two hands")
	})
}

func TestKeysAreReconciledSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New("test", clock.RealClock{}, func(context.Context, int) error {
			time.Sleep(time.Second) //nolint:forbidigo // fake time: the work takes a second
			return nil
		})
		for key := range 8 {
			q.Enqueue(key)
		}
		start := time.Now()
		stop := run(t, q, 4)
		for q.Len() > 0 {
			time.Sleep(time.Millisecond) //nolint:forbidigo // fake time
		}
		stop()
		assert.InDelta(t, 2*time.Second, time.Since(start), float64(10*time.Millisecond), "two rounds of four")
	})
}

func TestAFailurePausesLongerEachTimeAndForgetsAfterSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		q := New("test", clock.RealClock{}, func(context.Context, string) error {
			times = append(times, time.Now())
			if len(times) == 4 || len(times) == 6 {
				return nil
			}
			return errors.New("not yet")
		})
		stop := run(t, q, 1)
		q.Enqueue("a")
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		q.Enqueue("a")
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
		q := New("test", clock.RealClock{}, func(context.Context, string) error {
			gap, last = time.Since(start)-last, time.Since(start)
			return errors.New("never")
		})
		stop := run(t, q, 1)
		q.Enqueue("a")
		time.Sleep(time.Hour) //nolint:forbidigo // fake time
		stop()
		assert.InDelta(t, time.Minute, gap, float64(100*time.Millisecond))
	})
}

func TestAFailingKeyDoesNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var good atomic.Int32
		q := New("test", clock.RealClock{}, func(_ context.Context, key string) error {
			if key == "bad" {
				return errors.New("never")
			}
			good.Add(1)
			return nil
		})
		defer run(t, q, 1)()
		q.Enqueue("bad")
		time.Sleep(10 * time.Minute) //nolint:forbidigo // fake time: bad now pauses for a minute
		q.Enqueue("good")
		synctest.Wait()
		assert.EqualValues(t, 1, good.Load())
	})
}

func TestAPanicIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		q := New("test", clock.RealClock{}, func(context.Context, string) error {
			if calls.Add(1) == 1 {
				panic("nobody thought of this")
			}
			return nil
		})
		defer run(t, q, 1)()
		q.Enqueue("a")
		time.Sleep(time.Second) //nolint:forbidigo // fake time
		assert.EqualValues(t, 2, calls.Load())
	})
}

func TestStopFinishesWhatIsInHandAndDropsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var finished []string
		q := New("test", clock.RealClock{}, func(ctx context.Context, key string) error {
			time.Sleep(time.Second) //nolint:forbidigo // fake time: the work takes a second
			mu.Lock()
			defer mu.Unlock()
			finished = append(finished, key)
			return ctx.Err()
		})
		stop := run(t, q, 1)
		q.Enqueue("in hand")
		synctest.Wait()
		q.Enqueue("waits")
		start := time.Now()
		stop()
		assert.Equal(t, []string{"in hand"}, finished)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestReconcileHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got time.Duration
		start := time.Now()
		q := New("test", clock.RealClock{}, func(ctx context.Context, _ string) error {
			<-ctx.Done()
			got = time.Since(start)
			return nil
		})
		q.Timeout = 5 * time.Second
		stop := run(t, q, 1)
		q.Enqueue("a")
		synctest.Wait()
		stop()
		assert.Equal(t, 5*time.Second, got)
	})
}

func TestNothingIsReconciledBeforeTheCachesHaveSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var synced, early atomic.Bool
		var calls atomic.Int32
		q := New("test", clock.RealClock{}, func(context.Context, string) error {
			early.Store(!synced.Load())
			calls.Add(1)
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			q.Run(ctx, 1, synced.Load)
		}()
		q.Enqueue("a")
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		assert.Zero(t, calls.Load())
		synced.Store(true)
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		assert.EqualValues(t, 1, calls.Load())
		assert.False(t, early.Load())
		cancel()
		<-done
	})
}

func TestStopBeforeTheCachesHaveSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New("test", clock.RealClock{}, func(context.Context, string) error { return nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		q.Run(ctx, 1, func() bool { return false })
		assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
	})
}

func TestEnqueueAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at time.Duration
		q := New("test", clock.RealClock{}, func(context.Context, string) error { at = time.Since(start); return nil })
		stop := run(t, q, 1)
		q.EnqueueAt("a", start.Add(time.Hour))
		time.Sleep(2 * time.Hour) //nolint:forbidigo // fake time
		stop()
		assert.Equal(t, time.Hour, at)
	})
}

func TestToAskToBeCalledAgainIsNoFailureToReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged []string
		var times []time.Duration
		start := time.Now()
		q := New("test", clock.RealClock{}, func(context.Context, string) error {
			times = append(times, time.Since(start))
			switch len(times) {
			case 1, 2:
				return fmt.Errorf("writing: %w", ErrAgain)
			case 3:
				return errors.New("broken")
			}
			return nil
		})
		log := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), log), time.Minute)
		defer cancel()
		q.Enqueue("a")
		q.Run(ctx, 1)

		ms := time.Millisecond
		assert.Equal(t, []time.Duration{0, 100 * ms, 300 * ms, 700 * ms}, times, "a pause that grows")
		if assert.Len(t, logged, 1) {
			assert.Contains(t, logged[0], `"error"="broken"`)
			assert.Contains(t, logged[0], `"failures"=3`)
		}
	})
}

func TestAKeyIsDueByTheClockOfTheQueue(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	clock := testclock.NewFakeClock(noon)
	q := New("test", clock, func(context.Context, string) error { return nil })
	defer q.ShutDown()
	q.EnqueueAt("past", noon.Add(-time.Hour))
	assert.Equal(t, 1, q.Len(), "what is due already does not wait")

	q.EnqueueAt("later", noon.Add(2*time.Hour))
	q.EnqueueAt("soon", noon.Add(time.Hour))
	q.EnqueueAt("soon", noon.Add(3*time.Hour)) // the earlier counts
	due := func(at time.Time, want int) {
		t.Helper()
		clock.SetTime(at)
		assert.Eventually(t, func() bool { return q.Len() == want }, 30*time.Second, time.Millisecond)
	}
	assert.Eventually(t, func() bool { return clock.Waiters() == 2 }, 30*time.Second, time.Millisecond, "the ticker, and a timer")
	due(noon.Add(time.Hour-1), 1)
	due(noon.Add(time.Hour), 2)
	due(noon.Add(2*time.Hour), 3)
}

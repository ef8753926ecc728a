package wallclock

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wall is the wall clock of a synctest bubble. It can be set, which the time of
// the bubble cannot.
type wall struct{ ahead atomic.Int64 }

func (w *wall) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

func (w *wall) jump(d time.Duration) { w.ahead.Add(int64(d)) }

// queue is a queue of client-go that has this clock. It ends with the test.
func (w *wall) queue(t *testing.T) workqueue.TypedDelayingInterface[string] {
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: Clock{now: w.now}})
	t.Cleanup(q.ShutDown)
	return q
}

const day = 24 * time.Hour

func TestAKeyComesByTheWallClock(t *testing.T) {
	for name, test := range map[string]struct {
		after, jump time.Duration // after this long, the clock is set
		late        time.Duration // by the wall clock, at most
		waits       time.Duration // really, at least
	}{
		"nobody touches the clock":                        {waits: time.Hour},
		"the clock is set forward, and it is still early": {after: 10 * time.Minute, jump: 20 * time.Minute, waits: 40 * time.Minute},
		"the clock is set to that very moment":            {after: 10 * time.Minute, jump: 50 * time.Minute, late: time.Second, waits: 10 * time.Minute},
		"the clock is set forward, past it":               {after: 10*time.Minute + 3*time.Second, jump: 50 * time.Minute, late: 4 * time.Second, waits: 10*time.Minute + 3*time.Second},
		"the machine slept for a day":                     {after: 59 * time.Minute, jump: day, late: day, waits: 59 * time.Minute},
		"the clock is set back":                           {after: 10 * time.Minute, jump: -5 * time.Minute, waits: 65 * time.Minute},
		"the clock is set back in the last moment":        {after: time.Hour - 1, jump: -day, waits: time.Hour + day},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w wall
				q := w.queue(t)
				begin, due := time.Now(), w.now().Add(time.Hour)
				q.AddAfter("key", time.Hour)
				setter := time.AfterFunc(test.after, func() { w.jump(test.jump) })
				defer setter.Stop()

				_, ended := q.Get()
				assert.False(t, ended)
				assert.False(t, w.now().Before(due), "early: due %s, came %s", due, w.now())
				assert.LessOrEqual(t, w.now().Sub(due), test.late, "late")
				assert.GreaterOrEqual(t, time.Since(begin), test.waits)
				assert.LessOrEqual(t, time.Since(begin), test.waits+time.Second)
			})
		})
	}
}

func TestTheTimeIsThatOfTheCalendar(t *testing.T) {
	now := New().Now()
	assert.Equal(t, now.Round(0), now, "without the monotonic part")
}

// The queue's Clock field has this type.
var _ clock.WithTicker = Clock{}

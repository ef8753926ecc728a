// Package wallclock is a clock for work queues that wait until a time of day.
//
// Go measures how long to wait with a monotonic clock, one that never jumps. For
// "try again in ten seconds" that is right. For "run this at seven" it is not: a
// laptop that slept for an hour would run it at eight, and a clock that was wrong
// and is set right moves the hour, but not the wait.
package wallclock

import (
	"time"

	"k8s.io/utils/clock"
)

// tick is how often a queue looks at the clock, whether or not it expects
// something to be due. It is how late a jump may be noticed. A look costs no
// request, and as little with ten thousand keys as with one: they are in a heap.
const tick = time.Second

// Clock is for the field Clock of a queue's configuration. The queue then takes
// the time that a key is due as a time of the wall clock, and notices within a
// second when that has jumped.
//
// The pauses after failures are in the same queue. If the clock is set back while
// one lasts, it gets that much longer.
type Clock struct {
	clock.RealClock
	now func() time.Time
}

// New returns the clock of this machine.
func New() Clock { return Clock{now: time.Now} }

// Now is the time of the wall clock. Without the monotonic part two times are
// compared, and subtracted, as the calendar has them.
func (c Clock) Now() time.Time { return c.now().Round(0) }

// NewTicker ticks at least every second. The only ticker of a queue is its look
// at what is due, every ten seconds if left alone.
func (c Clock) NewTicker(d time.Duration) clock.Ticker {
	return c.RealClock.NewTicker(min(d, tick))
}

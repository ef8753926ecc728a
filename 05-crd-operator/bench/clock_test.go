package bench

import (
	"sync/atomic"
	"time"

	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

// shifted is the clock of this machine, set to another hour. It goes as fast and
// as precisely. An operator notices within a second that it was set.
type shifted struct {
	wallclock.Clock
	by atomic.Int64
}

func newShifted() *shifted { return &shifted{Clock: wallclock.New()} }

func (c *shifted) Now() time.Time { return c.of(c.Clock.Now()) }

// of is what this clock shows when that of the machine shows t.
func (c *shifted) of(t time.Time) time.Time { return t.Round(0).Add(time.Duration(c.by.Load())) }

func (c *shifted) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// shiftTo sets the clock to a little before the time. That is long enough for an
// operator to notice, and to set its timer.
func (c *shifted) shiftTo(t time.Time) { c.by.Add(int64(t.Sub(c.Now()) - 3*time.Second)) }

package supervisor

import "time"

const (
	firstDelay = 250 * time.Millisecond
	maxDelay   = 30 * time.Second
	// A component that ran this long was well: its next failure is a new one.
	wellAfter = time.Minute
)

// backoff doubles the pause between restarts, so that a component that cannot
// start does not keep a core busy.
type backoff struct {
	last time.Duration
}

// next returns the pause before the next start of a component that ran for ran.
func (b *backoff) next(ran time.Duration) time.Duration {
	if b.last == 0 || ran >= wellAfter {
		b.last = firstDelay
	} else {
		b.last = min(2*b.last, maxDelay)
	}
	return b.last
}

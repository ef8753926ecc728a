package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// backoff is the pause before a request is made again. Each pause is twice as
// long as the one before, so that a server in trouble is left alone; and each is
// lengthened by chance (jitter), so that a thousand clients that lost the same
// server do not come back in the same instant.
type backoff struct {
	first, next wait.Backoff
}

func newBackoff() *backoff {
	first := wait.Backoff{
		Duration: 100 * time.Millisecond,
		Factor:   2,
		Jitter:   1, // up to 100 % longer
		Cap:      30 * time.Second,
		Steps:    100, // more than it takes to reach the cap
	}
	return &backoff{first: first, next: first}
}

// step returns the next pause.
func (b *backoff) step() time.Duration { return b.next.Step() }

// reset makes the next pause the shortest again.
func (b *backoff) reset() { b.next = b.first }

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

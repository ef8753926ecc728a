package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// timeout is how long the answer to one request may take.
const timeout = 30 * time.Second

var errEnded = errors.New("the watch ended")

// follower reports every change to the pods that match its selector, whatever happens to the
// connection.
type follower struct {
	pods     source
	selector string
	report   func(change) // gets each change
	out      io.Writer    // gets why a request is made again

	state   *state
	backoff wait.Backoff
}

func newFollower(pods source, selector string, out io.Writer) *follower {
	return &follower{pods: pods, selector: selector, out: out, state: newState(), backoff: newBackoff()}
}

// newBackoff makes each pause twice as long as the one before, so that a server in trouble is left
// alone. Chance makes it longer still (jitter), so that a thousand clients that lost the same server
// don't come back in the same instant.
func newBackoff() wait.Backoff {
	return wait.Backoff{
		Duration: 100 * time.Millisecond,
		Factor:   2,
		Jitter:   1, // up to 100 % longer
		Cap:      30 * time.Second,
		Steps:    100, // more than it takes to reach the cap
	}
}

// follow makes the request that the state needs, one after the other, until the context ends. An
// error of the first one is the user's to fix. Later ones pass.
func (f *follower) follow(ctx context.Context) error {
	if err := f.list(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	for ctx.Err() == nil {
		next := f.watch
		if f.state.mustList() {
			next = f.list
		}
		if err := next(ctx); err != nil {
			f.pause(ctx, err)
		}
	}
	return nil
}

// list gets the present state. It names no version, which means the newest: the server must not
// answer with something older than what was reported before.
func (f *follower) list(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	pods, err := f.pods.List(ctx, metav1.ListOptions{LabelSelector: f.selector})
	if err != nil {
		return fmt.Errorf("listing the pods: %w", err)
	}
	f.reportAll(f.state.listed(pods))
	return nil
}

// watch listens from the last version on, until the server ends the watch, which it does every few
// minutes, or the connection breaks. So it always returns an error.
func (f *follower) watch(ctx context.Context) error {
	// A server that ends all watches of an age at once gets them all back at once. So each watch has
	// a length of its own. The program ends it if the server doesn't.
	seconds := rand.Int64N(300) + 300
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+timeout)
	defer cancel()
	// The stream may last. The answer that opens it must come soon.
	opening, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	tooLate := time.AfterFunc(timeout, func() { giveUp(fmt.Errorf("no answer within %s", timeout)) })
	watch, err := f.pods.Watch(opening, metav1.ListOptions{
		LabelSelector:       f.selector,
		ResourceVersion:     f.state.version,
		AllowWatchBookmarks: true,
		TimeoutSeconds:      &seconds,
	})
	tooLate.Stop()
	if err != nil {
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			f.state.expired()
		}
		return fmt.Errorf("watching the pods: %w", err)
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		changes, err := f.state.heard(event)
		if err != nil {
			return fmt.Errorf("the server ended the watch: %w", err)
		}
		f.backoff = newBackoff() // the server works again
		f.reportAll(changes)
	}
	return errEnded
}

func (f *follower) reportAll(changes []change) {
	for _, c := range changes {
		f.report(c)
	}
}

// pause prints why the last request is over and which is next, and waits.
func (f *follower) pause(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	next := "watching from version " + f.state.version
	if f.state.mustList() {
		next = "listing"
	}
	pause := f.backoff.Step()
	fmt.Fprintf(f.out, "# %v; %s in %s\n", err, next, pause.Round(time.Millisecond))
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

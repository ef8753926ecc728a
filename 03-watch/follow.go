package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"

	"example.com/hacking-a-controller/03-watch/cli"
)

// follower reports every change to a resource until its context ends. It makes the
// requests that its state needs, one after the other.
type follower struct {
	source  cache.ListerWatcherWithContext // where to list and watch
	report  func(change) error             // gets each change
	note    func(format string, args ...any)
	timeout time.Duration // how long the answer to one request may take

	state   *state
	backoff *backoff
	// worked are the requests that were granted before. What never worked is an
	// error of the user. What worked once is tried again.
	worked map[request]bool
}

type request string

const (
	listRequest  request = "list"
	watchRequest request = "watch"
)

func newFollower(source cache.ListerWatcherWithContext, report func(change) error, note func(string, ...any), timeout time.Duration) *follower {
	return &follower{
		source: source, report: report, note: note, timeout: timeout,
		state: newState(), backoff: newBackoff(), worked: map[request]bool{},
	}
}

// run returns nil when the context has ended. Any error is final: the first
// list failed, the server refuses to watch, or a change could not be reported.
func (f *follower) run(ctx context.Context) error {
	for ctx.Err() == nil {
		next := f.watch
		if f.state.mustList() {
			next = f.list
		}
		if err := next(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// list gets the present state, in pages of 500. It gives no version,
// which means the newest: the server may not answer with something older than
// what was reported before.
func (f *follower) list(ctx context.Context) error {
	page := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		ctx, cancel := context.WithTimeout(ctx, f.timeout)
		defer cancel()
		return f.source.ListWithContext(ctx, options)
	}
	var objects []metav1.Object
	var version string
	list, _, err := pager.New(page).List(ctx, metav1.ListOptions{})
	if err == nil {
		objects, version, err = contents(list)
	}
	switch {
	case err == nil:
		f.worked[listRequest] = true
		return f.reportAll(f.state.listed(objects, version))
	case f.worked[listRequest]:
		f.retry(ctx, "listing failed (%v); trying again", cli.Cause(err))
		return nil
	default:
		return err
	}
}

// watch listens from the last version on until the server ends the watch, which
// it does every few minutes, or the connection breaks.
func (f *follower) watch(ctx context.Context) error {
	// A server that ends all watches of an age at once gets them all back at
	// once. So each watch has a length of its own.
	seconds := rand.Int64N(300) + 300
	watching, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+f.timeout)
	defer cancel()

	// The length is for the stream. The answer that opens it must come sooner. This is no
	// deadline: client-go takes what ends by one for a watch that was opened and is over.
	opening, giveUp := context.WithCancelCause(watching)
	defer giveUp(nil)
	tooLate := time.AfterFunc(f.timeout, func() { giveUp(fmt.Errorf("no answer within %s", f.timeout)) })
	stream, err := f.source.WatchWithContext(opening, metav1.ListOptions{
		ResourceVersion:     f.state.version,
		AllowWatchBookmarks: true,
		TimeoutSeconds:      &seconds,
	})
	tooLate.Stop()
	if err != nil {
		return f.watchFailed(ctx, err)
	}
	defer stream.Stop()
	f.worked[watchRequest] = true

	for event := range stream.ResultChan() {
		changes, err := f.state.heard(event)
		if err != nil {
			f.retry(ctx, "the server ended the watch (%v); listing again", err)
			return nil
		}
		f.backoff.reset()
		if err := f.reportAll(changes); err != nil {
			return err
		}
	}
	f.retry(ctx, "the watch ended; going on from version %s", f.state.version)
	return nil
}

// watchFailed decides whether a WATCH that brought no stream is made again, and
// from where.
func (f *follower) watchFailed(ctx context.Context, err error) error {
	switch {
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		version := f.state.version
		f.state.expired()
		f.retry(ctx, "version %s is gone (%v); listing again", version, cli.Cause(err))
	case refused(err) && !f.worked[watchRequest]:
		return err
	default:
		f.retry(ctx, "watching failed (%v); trying again", cli.Cause(err))
	}
	return nil
}

// refused is true when the server understood the request and refused it. To repeat it
// is of no use.
func refused(err error) bool {
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) ||
		apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsBadRequest(err)
}

// retry notes why the last request is over, and pauses before the next.
func (f *follower) retry(ctx context.Context, format string, args ...any) {
	if ctx.Err() != nil {
		return
	}
	d := f.backoff.step()
	f.note(format+" in %s", append(args, d.Round(time.Millisecond))...)
	pause(ctx, d)
}

func (f *follower) reportAll(changes []change) error {
	for _, change := range changes {
		if err := f.report(change); err != nil {
			return err
		}
	}
	return nil
}

// contents takes a list of any kind apart.
func contents(list runtime.Object) (objects []metav1.Object, version string, err error) {
	err = meta.EachListItem(list, func(item runtime.Object) error {
		object, err := meta.Accessor(item)
		objects = append(objects, object)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("reading the list: %w", err)
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return nil, "", fmt.Errorf("reading the list: %w", err)
	}
	if accessor.GetResourceVersion() == "" {
		return nil, "", errNoVersion
	}
	return objects, accessor.GetResourceVersion(), nil
}

// errNoVersion is for types that are not stored, but computed for each request.
var errNoVersion = errors.New("the list has no version, so this type cannot be watched; kubectl api-resources --verbs=list,watch shows those that can")

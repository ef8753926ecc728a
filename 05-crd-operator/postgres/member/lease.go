package member

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// The times of the Lease. A holder that cannot renew it has killed its PostgreSQL by
// deadline + killAfter, and half of that if it is frozen. That is before plan.LeaseDuration, after which the operator frees it.
const (
	renewEvery     = time.Second
	requestTimeout = 2 * time.Second
	deadline       = 6 * time.Second
)

// lease is a member's hold on the Lease of the cluster. A LeaderElector of client-go is much
// the same; but it starts its deadline when a renewal begins to fail, and this one when the
// last success began, which is the moment from which others may count.
type lease struct {
	holder types.UID
	lapsed func() // called when the deadline passes

	requests sync.Mutex // the lock is for one request at a time
	lock     resourcelock.Interface
	acquired time.Time // when this member became the holder
	term     int64     // in which it did

	mu    sync.Mutex
	until time.Time // the deadline; zero if it is not held
	timer *time.Timer
}

// These are the reasons why the Lease is not for this member.
var (
	errHeld  = errors.New("another member holds the Lease")
	errNewer = errors.New("the Lease is for a newer term than this member knows of")
)

// holds reports whether the Lease was renewed lately enough.
func (l *lease) holds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.until)
}

// run renews the Lease while it is held.
func (l *lease) run(ctx context.Context) {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		if l.holds() {
			if err := l.renew(ctx); err != nil && ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "the Lease could not be renewed; trying again")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// take makes this member the holder, if the Lease is free or its own. One that has run out is
// freed by the operator. A Lease has the term in which it was freed, or taken last: who knows of an
// older one only must not come before the member that is named by now.
func (l *lease) take(ctx context.Context, term int64) error {
	record, err := l.read(ctx)
	if err != nil {
		return err
	}
	if int64(record.LeaderTransitions) > term {
		return fmt.Errorf("%w: %d and %d", errNewer, record.LeaderTransitions, term)
	}
	l.requests.Lock()
	defer l.requests.Unlock()
	if l.term = term; record.HolderIdentity != string(l.holder) {
		l.acquired = time.Now()
	}
	return l.update(ctx)
}

func (l *lease) renew(ctx context.Context) error {
	err := l.updateHeld(ctx)
	if !apierrors.IsConflict(err) {
		return err
	}
	// Another has written to it. That may have been the operator, or this member with a
	// request that has timed out.
	record, err := l.read(ctx)
	switch {
	case !l.holds():
		return nil // it was given back meanwhile, and what others do with it is no concern
	case errors.Is(err, errHeld), err == nil && record.HolderIdentity == "":
		l.drop()
		l.lapsed()
		return errHeld
	case err != nil:
		return err
	}
	return l.updateHeld(ctx)
}

// updateHeld renews a Lease that is still held. While a renewal waited for its turn, the Lease may
// have been given back, and then it must not be taken again.
func (l *lease) updateHeld(ctx context.Context) error {
	l.requests.Lock()
	defer l.requests.Unlock()
	if !l.holds() {
		return nil
	}
	return l.update(ctx)
}

// read reads the Lease. It returns errHeld if another member holds it.
func (l *lease) read(ctx context.Context) (*resourcelock.LeaderElectionRecord, error) {
	l.requests.Lock()
	defer l.requests.Unlock()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	record, _, err := l.lock.Get(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the Lease: %w", err)
	}
	if record.HolderIdentity != "" && record.HolderIdentity != string(l.holder) {
		return record, errHeld
	}
	return record, nil
}

// update writes the Lease as it was read last, with this member as its holder. The server
// refuses if it was changed meanwhile. The caller has locked requests.
func (l *lease) update(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	begun := time.Now()
	record := resourcelock.LeaderElectionRecord{
		HolderIdentity:       string(l.holder),
		LeaseDurationSeconds: int(plan.LeaseDuration / time.Second),
		AcquireTime:          metav1.NewTime(l.acquired),
		RenewTime:            metav1.NewTime(begun),
		LeaderTransitions:    int(l.term),
	}
	if err := l.lock.Update(ctx, record); err != nil {
		return fmt.Errorf("renewing the Lease: %w", err)
	}
	l.hold(begun.Add(deadline))
	return nil
}

// free makes the Lease nobody's. The caller has seen that PostgreSQL takes no writes.
func (l *lease) free(ctx context.Context) error {
	record, err := l.read(ctx)
	if err == nil && record.HolderIdentity == string(l.holder) {
		err = l.giveBack(ctx, record.LeaderTransitions)
	}
	if err != nil && !errors.Is(err, errHeld) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("freeing the Lease: %w", err)
	}
	l.drop()
	return nil
}

// giveBack writes that the Lease is nobody's. It is dropped first: a renewal that waits for its turn
// would take it again. If the write fails, nobody else knows that it is free, so it is still held.
func (l *lease) giveBack(ctx context.Context, term int) error {
	l.requests.Lock()
	defer l.requests.Unlock()
	until := l.drop()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := l.lock.Update(ctx, resourcelock.LeaderElectionRecord{LeaseDurationSeconds: int(plan.LeaseDuration / time.Second), LeaderTransitions: term})
	if err != nil && !until.IsZero() {
		l.hold(until)
	}
	return err
}

func (l *lease) hold(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = time.AfterFunc(time.Until(until), func() {
		if !l.holds() {
			l.lapsed()
		}
	})
}

// drop ends the hold, and returns until when it would have been.
func (l *lease) drop() (until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, l.until = l.until, time.Time{}
	if l.timer != nil {
		l.timer.Stop()
	}
	return until
}

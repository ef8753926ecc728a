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
	"k8s.io/apimachinery/pkg/util/wait"
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

	turn     sync.Mutex // to take, renew or free it: one after the other
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
	wait.NonSlidingUntilWithContext(ctx, func(ctx context.Context) {
		if err := l.renew(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "the Lease could not be renewed; trying again")
		}
	}, renewEvery)
}

// take makes this member the holder, if the Lease is free or its own. One that has run out is
// freed by the operator. A Lease has the term in which it was freed, or taken last: who knows of an
// older one only must not come before the member that is named by now.
func (l *lease) take(ctx context.Context, term int64) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	record, err := l.read(ctx)
	if err != nil {
		return err
	}
	if int64(record.LeaderTransitions) > term {
		return fmt.Errorf("%w: %d and %d", errNewer, record.LeaderTransitions, term)
	}
	if l.term = term; record.HolderIdentity != string(l.holder) {
		l.acquired = time.Now()
	}
	return l.update(ctx)
}

// renew renews a Lease that is still held. While it waited for its turn, the Lease may have been
// given back, and then it must not be taken again.
func (l *lease) renew(ctx context.Context) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	if !l.holds() {
		return nil
	}
	err := l.update(ctx)
	if !apierrors.IsConflict(err) {
		return err
	}
	// Another has written to it. That may have been the operator, or this member with a
	// request that has timed out.
	record, err := l.read(ctx)
	switch {
	case !l.holds():
		return nil // the deadline has passed meanwhile
	case errors.Is(err, errHeld), err == nil && record.HolderIdentity == "":
		l.drop()
		l.lapsed()
		return errHeld
	case err != nil:
		return err
	}
	return l.update(ctx)
}

// free makes the Lease nobody's. The caller has seen that PostgreSQL takes no writes. If the write
// fails, nobody else knows that it is free, so it is still held.
func (l *lease) free(ctx context.Context) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	record, err := l.read(ctx)
	if err == nil && record.HolderIdentity == string(l.holder) {
		err = l.write(ctx, resourcelock.LeaderElectionRecord{LeaderTransitions: record.LeaderTransitions})
	}
	if err != nil && !errors.Is(err, errHeld) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("freeing the Lease: %w", err)
	}
	l.drop()
	return nil
}

// read reads the Lease. It returns errHeld if another member holds it.
func (l *lease) read(ctx context.Context) (*resourcelock.LeaderElectionRecord, error) {
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

// update writes the Lease with this member as its holder.
func (l *lease) update(ctx context.Context) error {
	begun := time.Now()
	err := l.write(ctx, resourcelock.LeaderElectionRecord{
		HolderIdentity:    string(l.holder),
		AcquireTime:       metav1.NewTime(l.acquired),
		RenewTime:         metav1.NewTime(begun),
		LeaderTransitions: int(l.term),
	})
	if err != nil {
		return fmt.Errorf("renewing the Lease: %w", err)
	}
	l.hold(begun.Add(deadline))
	return nil
}

// write writes the Lease as it was read last. The server refuses if it was changed meanwhile.
func (l *lease) write(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	record.LeaseDurationSeconds = int(plan.LeaseDuration / time.Second)
	return l.lock.Update(ctx, record)
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

// drop ends the hold.
func (l *lease) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Time{}
	if l.timer != nil {
		l.timer.Stop()
	}
}

package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// The loop observes this often, and earlier when there is news. After an error it waits longer.
// If steps fail for very long, the agent ends: another pod may do better. To wait for another
// member is no failure: a standby without a primary still answers those who read.
const (
	interval     = 100 * time.Millisecond
	afterAnError = time.Second
	givesUpAfter = 30 * time.Second
)

// see is called with each newer status.
func (a *agent) see(status postgres.PostgresClusterStatus) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if status.Term != a.status.Term {
		a.endTerm()
		a.term, a.endTerm = context.WithCancel(context.Background())
	}
	a.status = status
	select {
	case a.news <- struct{}{}:
	default: // the loop has not seen the last ones
	}
}

// seen is the newest status, and a context that ends with its term.
func (a *agent) seen() (postgres.PostgresClusterStatus, context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status, a.term
}

// loop does one step after the other.
func (a *agent) loop(ctx context.Context) error {
	for good := time.Now(); ; {
		if a.server.lost() {
			return a.server.endedError()
		}
		wait := interval
		step, err := a.next(ctx)
		a.trouble = err
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && step != plan.Wait:
			good = time.Now()
			continue
		case err == nil, errors.Is(err, errNotYet):
			good = time.Now()
		case errors.Is(err, errHeld), errors.Is(err, errNewer), errors.Is(err, errUnreachable):
			klog.FromContext(ctx).Info("a step waits for others", "step", step, "reason", err.Error())
			good, wait = time.Now(), afterAnError
		case time.Since(good) > givesUpAfter:
			return fmt.Errorf("step %s fails again and again: %w", step, err)
		default:
			klog.FromContext(ctx).Error(err, "a step has failed; trying again", "step", step)
			wait = afterAnError
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.news:
		case <-time.After(wait):
		}
	}
}

// next does the next step, for as long as its term lasts.
func (a *agent) next(ctx context.Context) (plan.Step, error) {
	a.refresh(ctx)
	status, term := a.seen()
	a.keepSpace(ctx, status)
	a.keepParameters(ctx)
	a.dropSlots(ctx, status)
	view := plan.View{Name: a.Name, UID: a.UID, Status: status, HoldsLease: a.lease.holds(), Diverged: a.diverged == of(status)}
	report, silent := a.observe(ctx, status)
	view.Report = report
	step := plan.NextStep(view)
	if err := a.Trace.Record(view, step); err != nil {
		return step, fmt.Errorf("writing the trace: %w", err)
	}
	a.reporter.set(report, silent)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(term, cancel)()
	return step, a.do(ctx, step, status)
}

// end stops PostgreSQL. That it has ended is what makes the Lease free.
func (a *agent) end(ctx context.Context) error {
	a.session.close()
	a.mu.Lock()
	a.endTerm()
	a.mu.Unlock()
	lost := a.server.lost()
	a.server.stopFast(fastFor)
	if lost || !a.lease.holds() {
		return nil // the operator frees it once the pod has ended
	}
	return a.lease.free(ctx)
}

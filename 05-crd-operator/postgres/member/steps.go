package member

import (
	"context"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// unsettled is what the agent reports as names while some process of PostgreSQL may not have
// seen them. It is nobody's name.
const unsettled = "?"

// The times of what may take long.
const (
	promotionTimeout  = 10 * time.Second
	checkpointTimeout = time.Minute
)

// stepTimeout is how long a step may take before the agent counts as one that hangs. Others are
// over in a few seconds.
var stepTimeout = map[plan.Step]time.Duration{
	plan.InitDB:   time.Minute,
	plan.Restore:  recoveryTimeout,
	plan.Clone:    time.Hour,
	plan.Wipe:     time.Minute,
	plan.Keep:     time.Minute,
	plan.Follow:   10 * time.Second,
	plan.SetNames: 2*checkpointTimeout + queryTimeout,
	plan.Promote:  promotionTimeout,
}

// observe finds out what the next step depends on, and whether PostgreSQL should answer, and does not.
func (a *agent) observe(ctx context.Context, status postgres.PostgresClusterStatus) (r plan.Report, silent bool) {
	r = plan.Report{UID: a.UID, Term: status.Term, Version: a.version, Address: a.server.settings.address, Data: plan.Empty, Full: a.full}
	if a.server.files.complete() {
		r.Data, r.Timeline = plan.Complete, a.server.files.newestTimeline()
	}
	if kept, err := a.server.files.aside(); err == nil {
		a.kept = kept
	}
	r.Kept = a.kept
	if !a.server.running() {
		a.stopped()
	} else if o, err := a.ask(ctx); err != nil {
		a.disconnect()
		r.Writable = a.begins != 0
		silent = r.Writable
	} else {
		a.paused = o.paused
		a.noteNames(ctx, o)
		a.describe(&r, o, status)
		a.noteLapse(&r, o)
	}
	if a.server.running() {
		r.Unreachable = a.reach.get()
	}
	r.InvalidPasswords = a.server.settings.secrets.invalidPasswords()
	if r.Restored = a.restored; a.trouble != nil {
		r.Trouble = a.trouble.Error()
	}
	if r.Writable && a.archiver != nil {
		r.Archive = a.archiver.get()
	}
	return r, silent
}

// ask asks PostgreSQL, which may still be starting.
func (a *agent) ask(ctx context.Context) (observation, error) {
	if a.session == nil {
		s, err := a.connect(ctx)
		if err != nil {
			return observation{}, err
		}
		a.session = &s
	}
	o, err := a.session.observe(ctx)
	if err == nil && o.writable && o.Timeline != a.begins {
		a.server.stopImmediate()
		err = fmt.Errorf("PostgreSQL has begun timeline %d, which may be another member's, and was stopped: its promotion was to begin timeline %d; report this as a bug", o.Timeline, a.begins)
		klog.FromContext(ctx).Error(err, "the promotion has failed")
	}
	return o, err
}

func (a *agent) describe(r *plan.Report, o observation, status postgres.PostgresClusterStatus) {
	r.Running, r.Writable, r.Received, r.Streaming = true, o.writable, o.At, o.streaming()
	// A promotion that is under way has noted its timeline, perhaps, and not begun to take writes.
	if underWay := a.begins != 0 && !o.writable; underWay {
		r.Timeline = o.Timeline
	} else {
		r.Timeline = max(r.Timeline, o.Timeline)
	}
	r.Names = unsettled
	if o.names == a.names {
		r.Names = a.names
	}
	if o.streams {
		a.streamed = time.Now()
	}
	if a.followed == of(status) && time.Since(a.streamed) < stalledAfter {
		r.Following = status.Primary
	}
	if o.writable && r.Names != unsettled && a.isSynced(o) {
		r.SyncedWith = a.names
	}
}

// since is a connection of the standby that commits wait for, and a position in the log that is
// not before it. What was acknowledged before is not after that position.
type since struct {
	connection string
	at         plan.LSN
}

// isSynced reports whether the standby that commits wait for has all of the log up to there. One
// that connects anew may have lost what it had.
func (a *agent) isSynced(o observation) bool {
	standby, found := o.waitsFor(a.names)
	if !found {
		return false
	}
	if a.since.connection != standby.connection {
		a.since = since{standby.connection, o.At}
	}
	return standby.flushed >= a.since.at
}

// do does a step.
func (a *agent) do(ctx context.Context, step plan.Step, status postgres.PostgresClusterStatus) error {
	if step == plan.Wait {
		return nil
	}
	if step == plan.Start && a.server.running() {
		return errNotYet // it does not answer yet
	}
	if step == plan.Clone && time.Now().Before(a.copies.next) {
		return a.copies.failure
	}
	a.reporter.extend(goodFor + stepTimeout[step])
	klog.FromContext(ctx).Info("next step", "step", step, "term", status.Term, "phase", status.Phase)
	switch step {
	case plan.InitDB:
		return a.server.initDB(ctx)
	case plan.Restore:
		return a.restore(ctx, status)
	case plan.Clone:
		return a.clone(ctx, status)
	case plan.Wipe:
		a.diverged = followed{}
		a.disconnect()
		return a.server.wipe()
	case plan.Keep:
		return a.keep(status)
	case plan.Start:
		a.names, a.since = nobody, since{}
		return a.server.start()
	case plan.Follow:
		return a.follow(ctx, status)
	case plan.TakeLease:
		return a.lease.take(ctx, status.Term)
	case plan.FreeOwnLease:
		return a.lease.free(ctx)
	case plan.SetNames:
		return a.setNames(ctx, status.Standby)
	case plan.Promote:
		return a.promote(ctx, plan.TimelineOf(status.Term))
	case plan.StopFast:
		a.disconnect()
		timeout := fastFor
		if status.Phase == postgres.Deleting {
			timeout = lastFor
		}
		a.server.stopFast(timeout)
	case plan.StopImmediate:
		a.disconnect()
		a.server.stopImmediate()
	default:
		return fmt.Errorf("step %q is not known", step)
	}
	return nil
}

// keep keeps beside what a person has given up.
func (a *agent) keep(status postgres.PostgresClusterStatus) error {
	term, _ := plan.GivenUp(status, a.Name, a.kept)
	a.diverged = followed{}
	a.disconnect()
	return a.server.setAside(plan.KeptFolder(term))
}

// restore makes the database of the backups of this cluster, or of another one.
func (a *agent) restore(ctx context.Context, status postgres.PostgresClusterStatus) error {
	wanted := status.Restore
	if a.Source == "" {
		return fmt.Errorf("the pod has not the backups of %s; delete it, and the next one has them", wanted.Cluster)
	}
	var until time.Time
	if wanted.Time != nil {
		until = wanted.Time.Time
	}
	restored, err := a.server.restore(ctx, a.Source, a.Program, until, plan.TimelineOf(status.Term))
	if err == nil {
		a.restored = &restored
	}
	return err
}

// setNames says whom commits wait for, and returns when all processes of PostgreSQL have seen
// that. Each reads its settings when it has time.
func (a *agent) setNames(ctx context.Context, name string) error {
	waiting := a.names != "" && a.names != unsettled
	a.names, a.since = unsettled, since{}
	a.server.settings.names = name
	if err := a.server.reload(); err != nil {
		return err
	}
	// Those that send the log: one that takes another standby for the named one would
	// acknowledge what this one lacks.
	seen := fmt.Sprintf(`btrim(current_setting('synchronous_standby_names'), '"') = '%s' AND NOT EXISTS (SELECT FROM pg_stat_replication WHERE sync_priority > 0 AND application_name <> '%[1]s')`, name)
	if err := a.session.await(ctx, fmt.Sprintf("commits wait for %q", name), seen); err != nil {
		return err
	}
	// The checkpointer: it is what has commits wait at all, if none did so far. It reads its
	// settings between two checkpoints, and the first of these may have begun before.
	if name != "" && !waiting {
		for range 2 {
			if _, err := a.session.within(ctx, checkpointTimeout, "CHECKPOINT"); err != nil {
				return err
			}
		}
	}
	if name != "" && a.begins != 0 {
		if _, err := a.session.rows(ctx, someLog); err != nil {
			return err
		}
	}
	a.names = name
	return nil
}

// someLog writes a little log, and waits for no standby. A commit that waited for another standby
// is acknowledged when the new one reports how far it is, and without new log it does that only
// when PostgreSQL asks, which is every 2.5 seconds.
const someLog = "BEGIN; SET LOCAL synchronous_commit = local; SELECT pg_logical_emit_message(true, 'agent', ''); COMMIT"

// stopped forgets what was true of a PostgreSQL that runs no more.
func (a *agent) stopped() {
	a.disconnect()
	a.reach.note("", time.Now(), time.Now())
	a.begins, a.followed, a.paused = 0, followed{}, false
}

func (a *agent) disconnect() {
	if a.session != nil {
		a.session.close()
		a.session = nil
	}
}

// primaryOf is the member that the status names.
func primaryOf(status postgres.PostgresClusterStatus) peer {
	p := peer{name: status.Primary, uid: status.PrimaryUID}
	for _, m := range status.Members {
		if m.Name == status.Primary {
			p.address = m.Address
		}
	}
	return p
}

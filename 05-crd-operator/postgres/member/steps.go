package member

import (
	"context"
	"fmt"
	"slices"
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
	copyTimeout       = 24 * time.Hour // of a large database; another term ends it
	aloneAfter        = time.Minute    // a PostgreSQL that only has to replay its log has answered by then
)

// stepTimeout is how long a step may take before the agent counts as one that hangs. Others are
// over in a few seconds, but for the stop of a cluster that is deleted.
var stepTimeout = map[plan.Step]time.Duration{
	plan.InitDB:   time.Minute,
	plan.Restore:  recoveryTimeout,
	plan.Clone:    copyTimeout,
	plan.Wipe:     time.Minute,
	plan.Keep:     time.Minute,
	plan.Follow:   10 * time.Second,
	plan.SetNames: 2*checkpointTimeout + queryTimeout,
	plan.Promote:  promotionTimeout,
}

// do does a step.
func (a *agent) do(ctx context.Context, step plan.Step, status postgres.PostgresClusterStatus) error {
	if step == plan.Wait {
		return nil
	}
	if step == plan.Start && a.server.running() && !a.recoversAlone(status) {
		return waiting{fmt.Errorf("its PostgreSQL was started, and does not answer yet: %w", a.silence)}
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
		a.session.close()
		return a.server.wipe()
	case plan.Keep:
		return a.keep(status)
	case plan.Start:
		return a.start(ctx, status)
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
		a.session.close()
		timeout := fastFor
		if status.Phase == postgres.Deleting {
			timeout = lastFor
			a.reporter.extend(goodFor + lastFor) // the operator deletes the pod of one that hangs
		}
		a.server.stopFast(timeout)
	case plan.StopImmediate:
		a.session.close()
		a.server.stopImmediate()
	default:
		return fmt.Errorf("step %q is not known", step)
	}
	return nil
}

// start starts PostgreSQL as a standby, after it has recovered alone if it has to.
func (a *agent) start(ctx context.Context, status postgres.PostgresClusterStatus) error {
	if !a.server.running() {
		a.cutOff, a.started = a.server.files.cutOff(), time.Now()
	}
	if a.recoversAlone(status) {
		klog.FromContext(ctx).Info("PostgreSQL recovers alone")
		a.reporter.extend(goodFor + recoveryTimeout)
		return a.server.recoverAlone(ctx)
	}
	a.names, a.since = nobody, since{}
	return a.server.start()
}

// recoversAlone reports whether PostgreSQL, which took writes when it was ended, can't recover as a standby. If a
// transaction has more than 64 subtransactions at a checkpoint, a standby that starts from there answers nobody until
// it receives that the transaction has ended, and here it would receive that from nobody. Alone, PostgreSQL ends the
// transaction. It writes that to its log, so no other member may be about to lead with that log.
func (a *agent) recoversAlone(status postgres.PostgresClusterStatus) bool {
	nobodyLeads := status.Phase == postgres.Unsafe && time.Since(a.started) > aloneAfter
	return a.cutOff && slices.Contains(status.Synced, a.Name) && (len(status.Synced) == 1 || nobodyLeads)
}

// keep keeps beside what a person has given up.
func (a *agent) keep(status postgres.PostgresClusterStatus) error {
	term, _ := plan.GivenUp(status, a.Name, a.kept)
	a.diverged = followed{}
	a.session.close()
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
	if err := a.session.await(ctx, queryTimeout, fmt.Sprintf("commits wait for %q", name), seen); err != nil {
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
	a.session.close()
	a.reach.note("", time.Now(), time.Now())
	a.begins, a.followed, a.paused, a.replayed = 0, followed{}, false, 0
}

// memberOf is what the status says of a member, if it does.
func memberOf(status postgres.PostgresClusterStatus, name string) (m postgres.MemberStatus) {
	if i := slices.IndexFunc(status.Members, func(m postgres.MemberStatus) bool { return m.Name == name }); i >= 0 {
		m = status.Members[i]
	}
	return m
}

// primaryOf is the member that the status names.
func primaryOf(status postgres.PostgresClusterStatus) peer {
	return peer{status.Primary, memberOf(status, status.Primary).Address, status.PrimaryUID}
}

// capacityOf is what the disk of a member was promised to have, in bytes, or zero.
func capacityOf(status postgres.PostgresClusterStatus, name string) int64 {
	storage := memberOf(status, name).Storage
	return storage.Value()
}

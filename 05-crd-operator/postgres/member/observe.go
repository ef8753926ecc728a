package member

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/klog/v2"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// observation is what PostgreSQL says of itself.
type observation struct {
	plan.Position
	writable bool
	names    string
	streams  bool // it receives
	standbys []standby
	paused   bool     // it applies no more of the log
	lowered  []string // what has commits wait for no standby, as ALTER ROLE app SET synchronous_commit = local
}

// standby is one that receives from this PostgreSQL.
type standby struct {
	name       string
	sync       bool // commits wait for it
	flushed    plan.LSN
	connection string
}

// Conditions in SQL. The startup process sleeps so when it has replayed all that is on the disk
// and there is nobody to receive from.
const (
	writable     = `NOT pg_is_in_recovery()`
	notReceiving = `current_setting('primary_conninfo') = '' AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'walreceiver')`
	receiving    = `EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')`
	paused       = `CASE WHEN pg_is_in_recovery() THEN pg_get_wal_replay_pause_state() = 'paused' ELSE false END`
	replayed     = `EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'startup' AND wait_event = 'RecoveryRetrieveRetryInterval')`
)

const question = "SELECT " + writable + ", current_setting('synchronous_standby_names'), " + receiving + ", " + paused

const standbysQuestion = `SELECT application_name, sync_state, coalesce(flush_lsn, '0/0'), pid || ' ' || backend_start FROM pg_stat_replication WHERE state = 'streaming' AND application_name <> '` + clientName + `' ORDER BY 1`

// observe asks PostgreSQL for all that the agent decides by.
func (s session) observe(ctx context.Context) (observation, error) {
	row, err := s.row(ctx, question)
	if err != nil {
		return observation{}, err
	}
	yes := func(i int) bool { return row[i] == "t" }
	o := observation{writable: yes(0), names: strings.Trim(row[1], `"`), streams: yes(2), paused: yes(3)}
	if o.writable {
		if o.lowered, err = s.lowered(ctx); err != nil {
			return o, err
		}
		if o.standbys, err = s.standbys(ctx); err != nil {
			return o, err
		}
	}
	// The end of the log is asked for last, so it is not before the standbys' connections.
	_, o.Position, err = s.identify(ctx)
	return o, err
}

// standbys are those that receive from this PostgreSQL.
func (s session) standbys(ctx context.Context) ([]standby, error) {
	rows, err := s.rows(ctx, standbysQuestion)
	if err != nil {
		return nil, err
	}
	var standbys []standby
	for _, row := range rows {
		flushed, err := parseLSN(row[2])
		if err != nil {
			return nil, err
		}
		standbys = append(standbys, standby{name: row[0], sync: row[1] == "sync", flushed: flushed, connection: row[3]})
	}
	return standbys, nil
}

// waitsFor returns the standby of this name, if it receives and commits wait for it.
func (o observation) waitsFor(name string) (standby, bool) {
	i := slices.IndexFunc(o.standbys, func(s standby) bool { return s.name == name && s.sync })
	if i < 0 {
		return standby{}, false
	}
	return o.standbys[i], true
}

// observe finds out what the next step depends on, and whether PostgreSQL should answer, and does not.
func (a *agent) observe(ctx context.Context, status postgres.PostgresClusterStatus) (r plan.Report, silent bool) {
	r = plan.Report{UID: a.UID, Term: status.Term, Version: a.server.settings.version, Address: a.server.settings.address, Data: plan.Empty, Full: a.full}
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
		a.session.close()
		a.silence = err
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
		r.Archive = a.archiver.report.Load()
	}
	return r, silent
}

// ask asks PostgreSQL, which may still be starting.
func (a *agent) ask(ctx context.Context) (observation, error) {
	if err := a.session.open(ctx, a.server.local("")); err != nil {
		return observation{}, err
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
	r.Running, r.Writable, r.Received = true, o.writable, o.At
	for _, s := range o.standbys {
		r.Streaming = append(r.Streaming, s.name)
	}
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
// that connects again may have lost what it had.
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

package member

import (
	"context"
	"slices"
	"strings"

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

// streaming are the standbys that receive.
func (o observation) streaming() []string {
	var names []string
	for _, s := range o.standbys {
		names = append(names, s.name)
	}
	return names
}

// waitsFor returns the standby of this name, if it receives and commits wait for it.
func (o observation) waitsFor(name string) (standby, bool) {
	i := slices.IndexFunc(o.standbys, func(s standby) bool { return s.name == name && s.sync })
	if i < 0 {
		return standby{}, false
	}
	return o.standbys[i], true
}

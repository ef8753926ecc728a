package recorder

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"example.com/hacking-a-controller/05-crd-operator/postgres/history"
)

// Member is a member of a cluster, and how to connect to it.
type Member struct {
	Name   string
	Config *pgconn.Config
}

// ReadFinal reads all lists of each member, after the clients have stopped. The first member is
// the primary. Each other one is asked when it has all of the log that the primary had.
func (r *Recorder) ReadFinal(ctx context.Context, members ...Member) error {
	var until string // the position of the primary's log
	var all []history.Transaction
	for _, m := range members {
		t, err := r.readFinal(ctx, m, &until)
		if err != nil {
			return fmt.Errorf("reading all lists of %s: %w", m.Name, err)
		}
		all = append(all, t)
	}
	for _, t := range all {
		r.add(t)
	}
	return nil
}

func (r *Recorder) readFinal(ctx context.Context, m Member, until *string) (t history.Transaction, err error) {
	conn, err := pgconn.ConnectConfig(ctx, m.Config)
	if err != nil {
		return t, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if *until == "" {
		rows, err := query(ctx, conn, "SELECT pg_current_wal_insert_lsn()")
		if err != nil {
			return t, err
		}
		*until = string(rows[0][0])
	} else if err := replays(ctx, conn, *until); err != nil {
		return t, err
	}
	t = history.Transaction{Client: m.Name, Source: history.Final, Outcome: history.OK, Begin: time.Since(r.begun)}
	rows, err := query(ctx, conn, fmt.Sprintf("SELECT key, list FROM lists WHERE run = %d ORDER BY key", r.run))
	for _, row := range rows {
		var op history.Op
		if op.Key, err = strconv.Atoi(string(row[0])); err != nil {
			return t, err
		}
		if op.List, err = parseList(string(row[1])); err != nil {
			return t, err
		}
		t.Ops = append(t.Ops, op)
	}
	t.End = time.Since(r.begun)
	return t, err
}

// replays waits until a standby has replayed its log up to a position.
func replays(ctx context.Context, conn *pgconn.PgConn, position string) error {
	for {
		rows, err := query(ctx, conn, fmt.Sprintf("SELECT coalesce(pg_last_wal_replay_lsn() >= '%s', false), pg_last_wal_replay_lsn()", position))
		if err != nil || string(rows[0][0]) == "t" {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it has replayed the log up to %s, and the primary had it up to %s: %w", rows[0][1], position, ctx.Err())
		case <-time.After(pause):
		}
	}
}

func query(ctx context.Context, conn *pgconn.PgConn, sql string) ([][][]byte, error) {
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	return results[0].Rows, nil
}

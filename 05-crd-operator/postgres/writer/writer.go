// Package writer is a client of a PostgresCluster that writes one row after the other, and never
// gives up. In the end it reads all of them: a row that was acknowledged and is not there was
// lost.
package writer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// The times of a client.
const (
	// A commit that takes longer counts as unknown. It may be there, or not.
	commitTimeout = 10 * time.Second
	// After an error, the primary may be another one soon.
	retryAfter = 20 * time.Millisecond
	// A longer time without an acknowledged row is reported.
	gapReported = 300 * time.Millisecond
	countWithin = time.Minute
)

const createTable = "CREATE TABLE IF NOT EXISTS rows (run bigint, n int, timeline int, PRIMARY KEY (run, n))"

// insert notes the timeline that a row was written on. The first eight digits of the name of
// the file that the log is in are that: pg_control_checkpoint() has the old one after a promotion.
const insert = `INSERT INTO rows VALUES (%d, %d, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int) RETURNING timeline`

// undefinedTable is PostgreSQL's code for a table that is not there.
const undefinedTable = "42P01"

// Options say where to write, and how fast.
type Options struct {
	Config *pgconn.Config
	Pause  time.Duration // between two rows
	Out    io.Writer
}

type writer struct {
	Options
	conn   *pgconn.PgConn
	warned bool // the server has sent a warning since the last row was begun

	run                   int64 // rows of other runs are in the same table
	n                     int   // the last row that was tried
	acknowledged, unknown []int
	timeline              string
	last                  time.Time     // when a row was acknowledged last
	longest               time.Duration // without one
}

// Run writes until the context ends. It returns an error if a row was lost.
func Run(ctx context.Context, o Options) error {
	w := &writer{Options: o, run: time.Now().UnixNano()}
	w.Config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		w.warned = w.warned || notice.SeverityUnlocalized == "WARNING"
	}
	defer w.disconnect()
	for ctx.Err() == nil {
		pause := w.Pause
		// A commit that has begun is finished: to give it up would make it unknown.
		if err := w.write(context.WithoutCancel(ctx)); err != nil {
			w.disconnect()
			pause = max(pause, retryAfter)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return w.count(context.WithoutCancel(ctx))
}

// write writes a row. It is acknowledged if PostgreSQL has answered the commit without an error
// and without a warning: a commit that was to wait for a standby, and was cut short, is on one
// disk, and is answered with a warning.
func (w *writer) write(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	if w.conn == nil {
		if err := w.connect(ctx); err != nil {
			return err
		}
		if _, err := w.conn.Exec(ctx, createTable).ReadAll(); err != nil {
			return err
		}
	}
	w.n++
	w.warned = false
	results, err := w.conn.Exec(ctx, fmt.Sprintf(insert, w.run, w.n)).ReadAll()
	if err != nil || w.warned {
		w.unknown = append(w.unknown, w.n)
		return err
	}
	w.acknowledged = append(w.acknowledged, w.n)
	w.note(string(results[0].Rows[0][0]))
	return nil
}

func (w *writer) connect(ctx context.Context) (err error) {
	if w.conn == nil {
		w.conn, err = pgconn.ConnectConfig(ctx, w.Config)
	}
	return err
}

func (w *writer) disconnect() {
	if w.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = w.conn.Close(ctx) // it is closed in any case
		w.conn = nil
	}
}

// note prints what people should see of a row that was acknowledged.
func (w *writer) note(timeline string) {
	now := time.Now()
	gap := now.Sub(w.last)
	switch at := now.Format("15:04:05.000"); {
	case w.timeline == "":
		fmt.Fprintf(w.Out, "%s row %d is the first, on timeline %s\n", at, w.n, timeline)
		gap = 0
	case timeline != w.timeline || gap > gapReported:
		fmt.Fprintf(w.Out, "%s row %d is on timeline %s, after %.2f s without an acknowledged row\n", at, w.n, timeline, gap.Seconds())
	}
	w.timeline, w.last, w.longest = timeline, now, max(w.longest, gap)
}

// count compares the rows that are there with those that were acknowledged.
func (w *writer) count(ctx context.Context) error {
	there, err := w.read(ctx)
	if err != nil {
		return fmt.Errorf("counting the rows: %w; the cluster has no primary that answers, see kubectl get pgc", err)
	}
	lost := 0
	for _, n := range w.acknowledged {
		if !there[n] {
			lost++
		}
	}
	fmt.Fprintf(w.Out, "%d rows acknowledged, %d unknown, %d lost; the longest time without one was %.2f s\n",
		len(w.acknowledged), len(w.unknown), lost, w.longest.Seconds())
	if lost > 0 {
		return fmt.Errorf("%d rows that were acknowledged are not there", lost)
	}
	return nil
}

// read reads the numbers of all rows of this run, from the primary of now.
func (w *writer) read(ctx context.Context) (map[int]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, countWithin)
	defer cancel()
	for {
		there, err := w.tryRead(ctx)
		if err == nil || ctx.Err() != nil {
			return there, err
		}
		w.disconnect()
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

func (w *writer) tryRead(ctx context.Context) (map[int]bool, error) {
	if err := w.connect(ctx); err != nil {
		return nil, err
	}
	results, err := w.conn.Exec(ctx, fmt.Sprintf("SELECT n FROM rows WHERE run = %d", w.run)).ReadAll()
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == undefinedTable {
		return nil, nil // the table is lost, too
	}
	if err != nil {
		return nil, err
	}
	there := map[int]bool{}
	for _, row := range results[0].Rows {
		n, err := strconv.Atoi(string(row[0]))
		if err != nil {
			return nil, err
		}
		there[n] = true
	}
	return there, nil
}

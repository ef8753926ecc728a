package e2e

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// connect connects a client to the member's PostgreSQL, once it runs.
func (a *agent) connect() *pgconn.PgConn {
	a.Helper()
	var conn *pgconn.PgConn
	var err error
	a.eventually(func() bool {
		conn, err = a.dial()
		return err == nil
	}, "%s accepts connections", a.name)
	a.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func (a *agent) dial() (*pgconn.PgConn, error) {
	return a.dialAs("postgres", passwords["postgres"])
}

// sql runs commands, and returns the first column of all rows.
func (a *agent) sql(commands string) []string {
	a.Helper()
	conn := a.connect()
	defer conn.Close(a.Context())
	values, err := query(a.Context(), conn, commands)
	require.NoError(a, err, commands)
	return values
}

func query(ctx context.Context, conn *pgconn.PgConn, commands string) ([]string, error) {
	results, err := conn.Exec(ctx, commands).ReadAll()
	var values []string
	for _, result := range results {
		for _, row := range result.Rows {
			values = append(values, string(row[0]))
		}
	}
	return values, err
}

const createRows = "CREATE TABLE rows (n int); INSERT INTO rows VALUES (1)"

func (a *agent) rows() []string {
	a.Helper()
	return a.sql("SELECT n FROM rows ORDER BY n")
}

// inserts begins a commit that nobody acknowledges, as soon as the member takes writes. It
// returns what becomes of it.
func (a *agent) inserts(row string) <-chan error {
	a.Helper()
	conn := a.connect()
	done := make(chan error, 1)
	go func() {
		for {
			_, err := query(context.Background(), conn, "INSERT INTO rows VALUES ("+row+")")
			if refused, ok := errors.AsType[*pgconn.PgError](err); !ok || refused.Code != readOnly {
				done <- err
				return
			}
		}
	}()
	return done
}

const waitingCommits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

// waits waits until a commit of the member waits for a standby.
func (a *agent) waits(commit <-chan error) {
	a.Helper()
	a.eventually(func() bool {
		return len(commit) == 1 || a.sql(waitingCommits)[0] == "1"
	}, "the commit waits")
	if len(commit) != 0 {
		require.FailNow(a, "the commit did not wait", "%v", <-commit)
	}
}

// readOnly is PostgreSQL's code for a write to a standby.
const readOnly = "25006"

// freeze freezes the agent of the primary, and has db-2 take over. It returns what becomes of a
// commit that what still runs of the primary can only write to its own disk.
func (e *env) freeze(primary *agent) <-chan error {
	e.Helper()
	conn, observer := primary.connect(), primary.connect()
	primary.signal(syscall.SIGSTOP)
	e.eventually(func() bool { _, err := primary.report(); return err != nil }, "the agent of %s stands still", primary.name)
	e.beginElection()
	e.freeLease()
	e.beginPromotion("db-2", "")
	commit := make(chan error, 1)
	go func() {
		_, err := query(context.Background(), conn, "INSERT INTO rows VALUES (2)")
		commit <- err
	}()
	e.eventually(func() bool {
		waiting, err := query(e.Context(), observer, waitingCommits)
		return len(commit) == 1 || err == nil && waiting[0] == "1"
	}, "the commit waits")
	if len(commit) != 0 {
		require.FailNow(e, "the commit did not wait", "%v", <-commit)
	}
	return commit
}

// hasRows waits until a standby has these rows and no others.
func (a *agent) hasRows(want string) {
	a.Helper()
	a.eventually(func() bool {
		conn, err := a.dial()
		if err != nil {
			return false
		}
		defer conn.Close(a.Context())
		rows, err := query(a.Context(), conn, "SELECT n FROM rows ORDER BY n")
		return err == nil && strings.Join(rows, " ") == want
	}, "%s has the rows %s", a.name, want)
}

package e2e

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// used is how much all files of a member use, in bytes.
func (a *agent) used() (bytes int64) {
	a.Helper()
	require.NoError(a, filepath.WalkDir(a.data, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				bytes += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) { // PostgreSQL has removed it meanwhile
			return nil
		}
		return err
	}))
	return bytes
}

// fill is one transaction that writes more than the disks of this test have, at 30 MB a second at most:
// on a busy machine, an agent may look some tenths of a second late.
const fill = `DO 'BEGIN LOOP
  INSERT INTO rows SELECT generate_series(1, 30000);
  PERFORM pg_sleep(0.1);
END LOOP; END'`

func (e *env) publish() { e.update(func(*postgres.PostgresClusterStatus) {}) }

func TestWritesStopBeforeTheDiskIsFull(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.storage = resource.MustParse("224Mi")
	first, second := e.seedTwo()
	e.eventually(func() bool { return first.sql("SHOW max_wal_size")[0] == "32MB" }, "the log has a share")
	first.sql("ALTER TABLE rows SET (autovacuum_enabled = false)") // so that it does not become smaller
	conn, running := first.connect(), first.postgreSQL()
	_, err := query(t.Context(), conn, fill)
	require.Error(t, err, "the transaction was ended")
	assert.Less(t, max(first.used(), second.used()), e.storage.Value(), "what is used")
	first.awaits("reports it", func(r report) bool { return r.Full })

	_, err = query(t.Context(), first.connect(), "INSERT INTO rows VALUES (2)")
	refused, _ := errors.AsType[*pgconn.PgError](err)
	require.NotNil(t, refused, "%v", err)
	assert.Equal(t, readOnly, refused.Code)
	assert.Equal(t, []string{"1"}, first.rows(), "what is there can be read")
	e.setPassword("app", "another") // which the agent may still change
	first.admits("app", "another")
	first.writes("3", "SET default_transaction_read_only = off") // for somebody who makes space

	e.storage = resource.MustParse("1Gi")
	e.eventually(func() bool { e.publish(); return first.sql("SHOW default_transaction_read_only")[0] == "off" }, "there is space")
	first.writes("4")
	assert.Equal(t, []string{"1", "3", "4"}, first.rows())
	assert.Equal(t, running, first.postgreSQL(), "the process")
}

// writes waits until a member takes a row, in a session that begins with commands. A session that
// is ended may have written it before.
func (a *agent) writes(row string, begin ...string) {
	a.Helper()
	a.eventually(func() bool {
		conn, err := a.dial()
		if err != nil {
			return false
		}
		defer conn.Close(a.Context())
		for _, command := range append(begin, "INSERT INTO rows SELECT "+row+" EXCEPT SELECT n FROM rows") {
			if _, err := query(a.Context(), conn, command); err != nil {
				return false
			}
		}
		return true
	}, "%s takes a write", a.name)
}

// A query that only reads may need more than there is, too. When it has ended, writes go on.
func TestAQueryDoesNotFillTheDisk(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.storage = resource.MustParse("224Mi")
	first := e.seed()
	first.sql(createRows)
	conn, running := first.connect(), first.postgreSQL()
	_, err := query(t.Context(), conn, "SELECT count(*) FROM generate_series(1, 1000000000)") // in a temporary file
	require.Error(t, err, "it was ended")
	first.writes("2")
	assert.Equal(t, running, first.postgreSQL(), "the process")
}

// The standby could not receive them.
func TestWritesStopWhileTheDiskOfTheSyncedStandbyIsFull(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	e.join("db-3")
	const mode = "SHOW default_transaction_read_only"
	for _, state := range []struct{ full, mode string }{{"db-2", "on"}, {"db-3", "off"}, {"db-2", "on"}} {
		e.full = state.full
		e.publish()
		for _, member := range []*agent{first, second} {
			e.eventually(func() bool { return member.sql(mode)[0] == state.mode }, "that of %s is full, and %s is read-only: %s", e.full, member.name, state.mode)
		}
	}
	e.elect("db-2", "db-1") // it was told before it became the primary
	e.sync("db-1")
	assert.Equal(t, []string{"on"}, second.sql(mode))
	e.full = ""
	e.publish()
	second.writes("2")
}

package member

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/testcluster"
)

// A table that is being loaded when the log ends, a materialized view without rows, and what an interrupted
// DROP DATABASE has left: a database that has them is fine.
func TestATrialReadsWhatCanBeRead(t *testing.T) {
	t.Parallel()
	testpostgres.Find(t)
	if testpostgres.RanAsNobody(t) {
		return
	}
	files := writeSecrets(t)
	s := lone(t, files).server
	run(t, newClient(t, s), "CREATE TABLE rows (n int)", "CREATE MATERIALIZED VIEW later AS SELECT n FROM rows WITH NO DATA",
		"CREATE DATABASE invalid", "UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'invalid'",
		"BEGIN", "TRUNCATE rows", "INSERT INTO rows VALUES (1)")
	o := backupOptions{
		Member: "db-1", Address: s.settings.address, UID: s.settings.uid, Folder: archive.Folder(t.TempDir()), Trial: t.TempDir(), Keep: 1,
		Secrets: string(files), Programs: s.programs, Program: "false", // so the archive has no log
	}
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	defer cancel()
	require.NoError(t, o.run(ctx))
	bases, err := o.Folder.Bases()
	require.NoError(t, err)
	assert.Len(t, bases, 1)
	last, err := o.Folder.Last()
	require.NoError(t, err)
	assert.Empty(t, last, "the trial writes nothing to the archive")
	used, err := os.ReadFile(layout(filepath.Join(o.Trial, "database")).settings())
	require.NoError(t, err)
	assert.Contains(t, string(used), "max_wal_size = '32768kB'", "and little to its disk")
}

// An index alone says how many rows there are. A trial is there to read the table.
func TestATrialReadsThePagesOfATable(t *testing.T) {
	t.Parallel()
	testpostgres.Find(t)
	if testpostgres.RanAsNobody(t) {
		return
	}
	s := lone(t, writeSecrets(t)).server
	c := newClient(t, s)
	run(t, c, "CREATE TABLE rows AS SELECT n, repeat('x', 1000) FROM generate_series(1, 1000) n", "CREATE INDEX ON rows (n)", "VACUUM ANALYZE rows")
	row, err := c.row(t.Context(), "SELECT pg_relation_filepath('rows')")
	require.NoError(t, err)
	s.stopFast(testcluster.TestTimeout)
	table := filepath.Join(s.files.database(), row[0])
	content, err := os.ReadFile(table)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(table, bytes.Replace(content, []byte("xx"), []byte("xy"), 1), 0o600))
	require.NoError(t, s.start())
	awaitAnswer(t, s, "SELECT count(*) FROM rows", "1000")
	require.ErrorContains(t, open(t, s.local("")).readTables(t.Context()), "invalid page")
}

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func measure(b *testing.B, figure string, do func()) {
	b.Helper()
	begun := time.Now()
	do()
	b.ReportMetric(time.Since(begun).Seconds(), figure)
}

// BenchmarkMember measures what a cluster waits for. Each figure is in seconds.
func BenchmarkMember(b *testing.B) {
	for b.Loop() {
		e := newEnv(b)
		var first *agent
		measure(b, "initdb-to-writable-s", func() { first = e.seed() })
		first.sql("CREATE TABLE rows AS SELECT n, repeat('x', 1000) AS text FROM generate_series(1, 30000) AS n")
		measure(b, "clone-to-streaming-s", func() { e.join("db-2") })
		measure(b, "synced-s", func() { e.sync("db-2") })
		e.join("db-3")
		measure(b, "failover-s", func() {
			first.kill()
			e.elect("db-2", "db-3")
		})
		measure(b, "follow-s", func() { e.streams("db-3") })
		measure(b, "return-s", func() {
			e.start("db-1")
			e.streams("db-1")
		})
		e.agents["db-1"].stop()
		require.NoError(b, os.RemoveAll(filepath.Join(e.folder, "db-1")))
		measure(b, "reseed-s", func() {
			e.start("db-1")
			e.streams("db-1")
		})
		measure(b, "switchover-s", func() { e.elect("db-3", "db-1") })
	}
}

// BenchmarkBackup backs up a database of 1 GB, and restores it, beside what is simpler: each
// figure is in seconds. The disk has all of it at the end of each.
func BenchmarkBackup(b *testing.B) {
	tool := filepath.Join(newEnv(b).programs, "pg_basebackup")
	if _, err := os.Stat(tool); err != nil {
		b.Skipf("%v; set PG_HOME to a PostgreSQL that has pg_basebackup", err)
	}
	for b.Loop() {
		e := newBackedUp(b)
		first := e.seed()
		first.sql("CREATE TABLE rows AS SELECT n, repeat(md5(n::text), 31) AS text FROM generate_series(1, 950000) AS n")
		first.sql("CHECKPOINT")
		size, err := strconv.ParseFloat(first.sql("SELECT pg_database_size('postgres')")[0], 64)
		require.NoError(b, err)
		b.ReportMetric(size/1e9, "GB")
		first.archived()

		copied := filepath.Join(e.folder, "copied")
		run := func(name string, args ...string) {
			b.Helper()
			command := exec.Command(name, args...)
			command.Env = append(os.Environ(), "PGSSLMODE=require", "PGPASSWORD="+passwords["replication"])
			output, err := command.CombinedOutput()
			require.NoError(b, err, "%s", output)
		}
		measure(b, "backup-and-trial-s", func() { require.Empty(b, e.backUp(first)) })
		measure(b, "pg_basebackup-s", func() {
			run(tool, "--host", host(first.address), "--port", port(first.address), "--username", "replication", "--format", "tar", "--wal-method", "fetch", "--checkpoint", "fast", "--pgdata", copied)
		})
		require.NoError(b, os.RemoveAll(copied))
		measure(b, "plain-copy-s", func() {
			run("cp", "-r", filepath.Join(first.data, "database"), copied)
			run("sync", "-f", copied)
		})
		require.NoError(b, os.RemoveAll(copied))
		first.archived()
		first.stop()
		restored := newBackedUp(b)
		measure(b, "restore-s", func() {
			restored.restore(e, nil).awaits("has restored", func(r report) bool { return r.Restored != nil && r.Running })
		})
	}
}

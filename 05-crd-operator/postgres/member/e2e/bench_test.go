package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkMember measures what a cluster waits for. Each figure is in seconds.
func BenchmarkMember(b *testing.B) {
	for b.Loop() {
		e := newEnv(b)
		measure := func(figure string, do func()) {
			b.Helper()
			begun := time.Now()
			do()
			b.ReportMetric(time.Since(begun).Seconds(), figure)
		}
		var first *agent
		measure("initdb-to-writable-s", func() { first = e.seed() })
		first.sql("CREATE TABLE rows AS SELECT n, repeat('x', 1000) AS text FROM generate_series(1, 30000) AS n")
		measure("clone-to-streaming-s", func() { e.join("db-2") })
		measure("synced-s", func() { e.sync("db-2") })
		e.join("db-3")
		measure("failover-s", func() {
			first.kill()
			e.elect("db-2", "db-3")
		})
		measure("follow-s", func() { e.streams("db-3") })
		measure("return-s", func() {
			e.start("db-1")
			e.streams("db-1")
		})
		e.agents["db-1"].stop()
		require.NoError(b, os.RemoveAll(filepath.Join(e.folder, "db-1")))
		measure("reseed-s", func() {
			e.start("db-1")
			e.streams("db-1")
		})
		measure("switchover-s", func() { e.elect("db-3", "db-1") })
	}
}

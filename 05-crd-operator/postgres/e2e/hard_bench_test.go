package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// BenchmarkGapWithAReader measures the gap when PostgreSQL of the primary is killed while a query
// on the synced standby still reads what the primary has removed, so that replay waits for it.
func BenchmarkGapWithAReader(b *testing.B) {
	e := newCluster(b)
	writer := e.startWriter()
	_, err := writer.ask(b.Context(), "CREATE TABLE read AS SELECT generate_series(1, 10000) AS n")
	require.NoError(b, err)
	var times []time.Duration
	for b.Loop() {
		status := e.status()
		reader := writer.holdsReplay(status)
		times = append(times, writer.failsOver(status))
		reader.close()
	}
	report(b, times)
	assert.Empty(b, writer.loses(), "acknowledged rows that are lost")
	e.deleteCluster()
}

// holdsReplay begins a query on the synced standby that its replay waits for.
func (w *writer) holdsReplay(status postgres.PostgresClusterStatus) *session {
	w.Helper()
	reader, err := w.dialer.dial(w.Context(), addressOfMember(status, status.Standby))
	require.NoError(w, err)
	w.Cleanup(reader.close)
	eventually(w, "the standby has the table", func() error {
		_, err := reader.query(w.Context(), "SELECT count(*) FROM read")
		return err
	})
	_, err = reader.query(w.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM read")
	require.NoError(w, err)
	for _, command := range []string{"UPDATE read SET n = n", "VACUUM read"} {
		_, err := w.ask(w.Context(), command)
		require.NoError(w, err)
	}
	eventually(w, "replay waits for the reader", func() error {
		found, err := reader.query(w.Context(), "SELECT wait_event FROM pg_stat_activity WHERE backend_type = 'startup' AND wait_event LIKE 'RecoveryConflict%'")
		if err == nil && len(found) == 0 {
			err = errors.New("it does not")
		}
		return err
	})
	return reader
}

func addressOfMember(status postgres.PostgresClusterStatus, member string) string {
	for _, m := range status.Members {
		if m.Name == member {
			return m.Address
		}
	}
	return ""
}

// failsOver kills PostgreSQL of the primary, and returns the gap once all is as it was.
func (w *writer) failsOver(before postgres.PostgresClusterStatus) time.Duration {
	w.Helper()
	require.NoError(w, w.killPostgreSQL(before.PrimaryUID))
	w.reaches(before.Term + 1)
	w.settles()
	w.goesOn()
	return w.gap()
}

// BenchmarkLargeTable measures a cluster that has a table of 1 GB: the gap when PostgreSQL of the
// primary is killed while a tenth of the table is written, and how long the synced standby takes
// that loses its disk.
func BenchmarkLargeTable(b *testing.B) {
	e := newEnv(b)
	e.create(name, postgres.PostgresClusterSpec{Size: 3, Storage: resource.MustParse("8Gi")})
	e.settles()
	writer := e.startWriter()
	_, err := writer.ask(b.Context(), "CREATE TABLE large AS SELECT n, repeat(md5(n::text), 31) AS text FROM generate_series(1, 950000) AS n")
	require.NoError(b, err)
	e.settles()

	b.Run("PostgreSQL-is-killed", func(b *testing.B) {
		var gaps, wholes []time.Duration
		for b.Loop() {
			status := e.status()
			ends := writer.rewrites()
			begun := time.Now()
			gaps = append(gaps, writer.failsOver(status))
			wholes = append(wholes, time.Since(begun))
			ends()
		}
		report(b, gaps)
		b.Logf("until all is as it was: %v", wholes)
	})
	b.Run("new-disk", func(b *testing.B) {
		var times []time.Duration
		for b.Loop() {
			begun := time.Now()
			e.replacesDisk(e.status().Standby)
			e.settles()
			times = append(times, time.Since(begun))
		}
		report(b, times)
	})
	assert.Empty(b, writer.loses(), "acknowledged rows that are lost")
	e.deleteCluster()
}

// rewrites begins to write a tenth of the large table, and returns when 32 MB of log are written.
// What it returns waits for its end.
func (w *writer) rewrites() (ends func()) {
	w.Helper()
	position, err := w.ask(w.Context(), "SELECT pg_current_wal_lsn()")
	require.NoError(w, err)
	ctx, cancel := context.WithCancel(w.Context())
	var writing errgroup.Group
	writing.Go(func() error {
		_, err := w.ask(ctx, "UPDATE large SET text = reverse(text) WHERE n % 10 = 0")
		return err
	})
	ends = func() { cancel(); _ = writing.Wait() } // its primary was killed
	w.Cleanup(ends)
	eventually(w, "a part of the table is written", func() error {
		rows, err := w.ask(ctx, fmt.Sprintf("SELECT pg_current_wal_lsn() - '%s'::pg_lsn > 32e6", position[0][0]))
		if err == nil && rows[0][0] != "t" {
			err = errors.New("it is not")
		}
		return err
	})
	return ends
}

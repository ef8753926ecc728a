package e2e

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// BenchmarkBuild measures how long a cluster of three takes from kubectl apply until all are
// ready and each commit is on two disks.
func BenchmarkBuild(b *testing.B) {
	var times []time.Duration
	for b.Loop() {
		e := newEnv(b)
		begun := time.Now()
		e.create(name, postgres.PostgresClusterSpec{Size: 3})
		e.settles()
		times = append(times, time.Since(begun))
		e.deleteCluster()
		e.stopOperator()
	}
	report(b, times)
}

// BenchmarkGap measures how long clients cannot write: from the last row on a timeline to the
// first on the next.
func BenchmarkGap(b *testing.B) {
	e := newCluster(b)
	writer, watcher := e.startWriter(), e.startWatcher()
	for _, tc := range []struct {
		what string
		do   func(primary string, pod types.UID) error
	}{
		{"PostgreSQL-is-killed", func(_ string, pod types.UID) error { return e.killPostgreSQL(pod) }},
		{"pod-is-deleted", func(primary string, pod types.UID) error { return e.deletePod(primary, pod) }},
		{"pod-is-deleted-by-force", func(primary string, pod types.UID) error {
			return e.deletePod(primary, pod, client.GracePeriodSeconds(0))
		}},
		{"agent-is-frozen", func(_ string, pod types.UID) error { return e.signalAgent(pod, syscall.SIGSTOP) }},
		{"switchover", func(string, types.UID) error { e.patch(`"primary":"` + e.status().Standby + `"`); return nil }},
	} {
		b.Run(tc.what, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				status := e.status()
				watcher.sees(status.PrimaryUID)
				require.NoError(b, tc.do(status.Primary, status.PrimaryUID))
				e.reaches(status.Term + 1)
				e.settles()
				writer.goesOn()
				times = append(times, writer.gap())
			}
			report(b, times)
		})
	}
	lost := writer.loses()
	assert.Empty(b, lost, "acknowledged rows that are lost")
	b.Logf("%d rows were acknowledged, %d are lost", len(writer.rows()), len(lost))
	e.deleteCluster()
}

// BenchmarkNewDisk measures how long the synced standby takes that loses its disk, until all is as
// it was. The other standby takes its place, so the next one is another.
func BenchmarkNewDisk(b *testing.B) {
	e := newCluster(b)
	writer := e.startWriter()
	var times []time.Duration
	for b.Loop() {
		synced := e.status().Standby
		begun := time.Now()
		e.replacesDisk(synced)
		e.settles()
		times = append(times, time.Since(begun))
	}
	report(b, times)
	assert.Empty(b, writer.loses(), "acknowledged rows that are lost")
	e.deleteCluster()
}

// report reports the median and the worst.
func report(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds(), "median-s")
	b.ReportMetric(times[len(times)-1].Seconds(), "worst-s")
	b.ReportMetric(0, "ns/op") // which is not shown then
}

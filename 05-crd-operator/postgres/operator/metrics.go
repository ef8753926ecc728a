package operator

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// collector has the figures of all clusters. At each scrape it reads their statuses from the
// cache, so that nothing has to be counted, and an operator that starts again shows the same.
type collector struct {
	clusters client.Reader
	clock    clock.PassiveClock
	lags     *sync.Map // map[string]plan.LSN, in bytes by the names of members, by the names of clusters
}

// figure is one of a cluster.
type figure struct {
	*prometheus.Desc
	kind prometheus.ValueType
}

func newFigure(kind prometheus.ValueType, name, help string, labels ...string) figure {
	return figure{prometheus.NewDesc("postgres_cluster_"+name, help, append([]string{"namespace", "name"}, labels...), nil), kind}
}

// The figures. Times are in seconds.
var (
	conditions  = newFigure(prometheus.GaugeValue, "condition", "1 if a condition of the cluster is True, else 0.", "condition")
	wanted      = newFigure(prometheus.GaugeValue, "members_wanted", "How many members are wanted.")
	ready       = newFigure(prometheus.GaugeValue, "members_ready", "How many members answer queries.")
	term        = newFigure(prometheus.GaugeValue, "term", "The term.")
	failovers   = newFigure(prometheus.CounterValue, "failovers_total", "How many elections there were, switchovers too.")
	lag         = newFigure(prometheus.GaugeValue, "lag_bytes", "How much of the log of the primary a standby has not received.", "member")
	backupAge   = newFigure(prometheus.GaugeValue, "backup_age_seconds", "For how long there has been no newer base backup, or, if there is none, since the cluster was created. Only of clusters that want backups.")
	archiveAge  = newFigure(prometheus.GaugeValue, "archive_age_seconds", "How old the newest moment is to which the database can be restored. Only of clusters that have a backup.")
	allFigures  = []figure{conditions, wanted, ready, term, failovers, lag, backupAge, archiveAge}
	scrapeLimit = time.Second
)

// Describe sends what the figures mean.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, f := range allFigures {
		to <- f.Desc
	}
}

// Collect reads the cache.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	var all postgres.PostgresClusterList
	// The cache's own objects: they are read, and not changed.
	if err := c.clusters.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		to <- prometheus.NewInvalidMetric(conditions.Desc, err) // a cache that is not full yet
		return
	}
	for i := range all.Items {
		c.collect(&all.Items[i], to)
	}
}

func (c *collector) collect(cluster *postgres.PostgresCluster, to chan<- prometheus.Metric) {
	s := cluster.Status
	send := func(f figure, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(f.Desc, f.kind, value, append([]string{cluster.Namespace, cluster.Name}, labels...)...)
	}
	send(wanted, float64(cluster.Spec.Size))
	send(ready, float64(s.Replicas))
	send(term, float64(s.Term))
	send(failovers, float64(max(0, s.Term-1))) // the first term has none
	for _, condition := range s.Conditions {
		value := 0.0
		if condition.Status == "True" {
			value = 1
		}
		send(conditions, value, condition.Type)
	}
	if lags, known := c.lags.Load(client.ObjectKeyFromObject(cluster)); known {
		for member, bytes := range lags.(map[string]plan.LSN) {
			send(lag, float64(bytes), member)
		}
	}
	if cluster.Spec.Backup == nil {
		return
	}
	last := cluster.CreationTimestamp
	if s.Backup != nil && s.Backup.LastBackup != nil {
		last = *s.Backup.LastBackup
	}
	send(backupAge, c.clock.Since(last.Time).Seconds())
	if s.Backup != nil && s.Backup.Restorable != nil {
		send(archiveAge, c.clock.Since(s.Backup.Restorable.To.Time).Seconds())
	}
}

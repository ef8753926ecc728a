package secretsync

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/testcluster"
)

func oneBadTarget(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "bad")
	s.target("full")
	s.target("harbour")
	none := corev1.ResourceList{"count/secrets": resource.MustParse("0")}
	quotas := s.client.CoreV1().ResourceQuotas(s.name + "-full")
	quota, err := quotas.Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}, metav1.CreateOptions{})
	require.NoError(t, err)
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	_, err = quotas.UpdateStatus(t.Context(), quota, metav1.UpdateOptions{})
	require.NoError(t, err)
	// The server's quota admission sees it only after a while.
	require.Eventually(t, func() bool {
		_, err := s.client.CoreV1().Secrets(s.name+"-full").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), "exceeded quota")
	}, testcluster.TestTimeout, 20*time.Millisecond)

	want := map[string]string{}
	for i := range 20 {
		name := fmt.Sprintf("db-%d", i)
		s.source(name, "tide")
		want["harbour/"+name] = "key=tide"
	}
	s.startWith(1, 0)
	s.becomes(want)

	// And when it no longer refuses, the copies come by themselves.
	require.NoError(t, quotas.Delete(t.Context(), "none", metav1.DeleteOptions{}))
	for i := range 20 {
		want[fmt.Sprintf("full/db-%d", i)] = "key=tide"
	}
	s.becomes(want)
}

func sideBySide(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "workers")
	s.target("harbour")
	want := map[string]string{}
	for i := range 4 {
		name := fmt.Sprintf("db-%d", i)
		s.source(name, "tide")
		want["harbour/"+name] = "key=tide"
	}
	// Each write waits until all four have begun.
	var begun atomic.Int32
	all := make(chan struct{})
	s.startWith(4, 0, through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method != http.MethodPost {
			return next.RoundTrip(request)
		}
		if begun.Add(1) == 4 {
			close(all)
		}
		select {
		case <-all:
			return next.RoundTrip(request)
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}))
	s.becomes(want)
}

func nothingDiffers(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "steady")
	want := map[string]string{}
	s.target("harbour")
	s.target("coast")
	for i := range 10 {
		name := fmt.Sprintf("db-%d", i)
		s.source(name, "tide")
		want["harbour/"+name], want["coast/"+name] = "key=tide", "key=tide"
	}
	first := &ledger{}
	stop := s.start(first.watch)
	s.becomes(want)
	stop()
	assert.Len(t, firsts(first.all()), 20)

	// With one worker, keys are taken in the order in which they came. So when
	// the last source is copied, all before it have been reconciled: those of
	// the start, and those of resyncs meanwhile.
	again := &ledger{}
	stop = s.startWith(1, time.Second, again.watch)
	for i := range 3 {
		name := fmt.Sprintf("last-%d", i)
		s.source(name, "x")
		want["harbour/"+name], want["coast/"+name] = "key=x", "key=x"
		s.becomes(want)
		s.patch("source/db-0", `{"metadata":{"labels":{"touched":"`+name+`"}}}`)
		s.annotateNamespace("coast", `"`+name+`"`)
	}
	stop()
	assert.Len(t, firsts(again.all()), 6, "two copies of each new source, and nothing else")
}

func resync(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "resync")
	s.source("db", "tide")
	s.target("harbour")
	s.create("harbour/db", "mine")
	s.startWith(1, time.Second)
	eventsOf(s, 1)
	s.delete("harbour/db") // which no watch reports: it was foreign
	s.becomes(map[string]string{"harbour/db": "key=tide"})
}

//go:build try

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// What the lesson of part 4 asks the reader to write. Until then, these tests fail.

func TestTryTheLineHasHowManyRun(t *testing.T) {
	var out strings.Builder
	anHourAgo := time.Now().Add(-time.Hour)
	c, _ := cached(&out, pod("coast", "bell", runs(anHourAgo)), pod("coast", "buoy", runs(anHourAgo)),
		pod("coast", "lamp", succeeded(anHourAgo, anHourAgo.Add(time.Minute))), pod("coast", "pier", corev1.PodStatus{Phase: corev1.PodPending}))
	defer c.queue.ShutDown()
	require.NoError(t, c.reconcile(t.Context(), "coast"))
	require.Contains(t, out.String(), "minutes, 2 run.\n", "two of four pods run")
}

func TestTryAMetricOfThePodsThatRun(t *testing.T) {
	c, _ := cached(&testcluster.Output{}, pod("coast", "bell", runs(time.Now())), pod("coast", "buoy", runs(time.Now())), pod("harbour", "lamp", runs(time.Now())))
	defer c.queue.ShutDown()
	require.NoError(t, c.reconcile(t.Context(), "coast"))
	require.NoError(t, c.reconcile(t.Context(), "harbour"))
	registry := prometheus.NewPedanticRegistry() // refuses a metric that Describe does not send
	require.NoError(t, registry.Register(c))
	families, err := registry.Gather()
	require.NoError(t, err, "Describe sends each metric that Collect sends")
	running := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "pods_running" {
				running[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	require.Equal(t, map[string]float64{"coast": 2, "harbour": 1}, running, "pods_running has one value for each namespace")
}

func TestTryNoWorkersAreAnError(t *testing.T) {
	// Without the error that is asked for, it ends with that of an address that is none.
	err := run(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, &testcluster.Output{}, options{workers: 0, listen: "nowhere"})
	require.ErrorContains(t, err, "-workers", "the error names the flag")
}

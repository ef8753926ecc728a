package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMetricsAreInSecondsAndTotals(t *testing.T) {
	m := newMetrics()
	m.count(syncEvent)
	m.count(syncEvent)
	m.count(deletedEvent)
	m.ran(updatedEvent, 3, 1500*time.Millisecond)
	m.ran(namesEvent, 0, 2*time.Second)
	var out bytes.Buffer
	require.NoError(t, m.print(&out))
	for _, line := range []string{
		`observe_events_total{type="Sync"} 2`,
		`observe_events_total{type="Deleted"} 1`,
		`observe_command_duration_seconds_bucket{exit_code="3",type="Updated",le="0.64"} 0`,
		`observe_command_duration_seconds_bucket{exit_code="3",type="Updated",le="2.56"} 1`,
		`observe_command_duration_seconds_sum{exit_code="3",type="Updated"} 1.5`,
		`observe_command_duration_seconds_count{exit_code="0",type="Names"} 1`,
	} {
		assert.Contains(t, out.String(), "\n"+line+"\n")
	}
}

func TestAPageInABrowserIsRefused(t *testing.T) {
	handler := onlyLoopback(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"127.0.0.1:11251":        http.StatusOK,
		"localhost":              http.StatusOK,
		"[::1]:11251":            http.StatusOK,
		"evil.example:11251":     http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example": http.StatusMisdirectedRequest,
	} {
		request, answer := httptest.NewRequest(http.MethodGet, "/metrics", nil), httptest.NewRecorder()
		request.Host = host
		handler.ServeHTTP(answer, request)
		assert.Equal(t, want, answer.Code, host)
	}
}

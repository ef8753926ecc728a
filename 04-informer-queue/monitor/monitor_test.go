package monitor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serve starts a monitor that ends with the test.
func serve(t *testing.T, healthy func() error) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	ships := prometheus.NewGauge(prometheus.GaugeOpts{Name: "ships", Help: "Ships in the harbour."})
	ships.Set(3)
	registry.MustRegister(ships)

	listener, err := Listen(":0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, listener, registry, healthy) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	return listener.Addr().String()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

func TestMetrics(t *testing.T) {
	code, body := get(t, "http://"+serve(t, func() error { return nil })+"/metrics")
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, "\nships 3\n")
}

func TestHealth(t *testing.T) {
	var synced atomic.Bool
	address := serve(t, func() error {
		if !synced.Load() {
			return errors.New("the cache has not synced yet")
		}
		return nil
	})
	code, body := get(t, "http://"+address+"/healthz")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Equal(t, "the cache has not synced yet\n", body)

	synced.Store(true)
	code, body = get(t, "http://"+address+"/healthz")
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, "ok\n", body)
}

func TestOnlyThisMachineCanAsk(t *testing.T) {
	assert.True(t, strings.HasPrefix(serve(t, func() error { return nil }), "127.0.0.1:"))
}

func TestAddressesThatCannotBeUsed(t *testing.T) {
	taken := serve(t, func() error { return nil })
	for address, want := range map[string]string{
		taken:         "address already in use; choose another address",
		"8080":        "missing port in address; an address looks like 127.0.0.1:8080 or :8080",
		"192.0.2.1:0": "choose another address",
	} {
		_, err := Listen(address)
		require.ErrorContains(t, err, want)
	}
}

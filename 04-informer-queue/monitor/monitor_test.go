package monitor

import (
	"context"
	"errors"
	"io"
	"net"
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
	return serveAt(t, ":0", healthy)
}

func serveAt(t *testing.T, address string, healthy func() error) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	ships := prometheus.NewGauge(prometheus.GaugeOpts{Name: "ships", Help: "Ships in the harbour."})
	ships.Set(3)
	registry.MustRegister(ships)

	listener, err := Listen(address)
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

func TestAPageInABrowserIsRefused(t *testing.T) {
	healthy := func() error { return nil }
	for sentence, tc := range map[string]struct {
		listen, host string
		want         int
	}{
		"by its address":                          {listen: ":0", host: "127.0.0.1:11251", want: http.StatusOK},
		"by the name of loopback":                 {listen: "localhost:0", host: "localhost", want: http.StatusOK},
		"over IPv6":                               {listen: ":0", host: "[::1]:11251", want: http.StatusOK},
		"a name that was made to lead here":       {listen: ":0", host: "evil.example:11251", want: http.StatusMisdirectedRequest},
		"a name that begins like an address":      {listen: "127.0.0.1:0", host: "127.0.0.1.evil.example", want: http.StatusMisdirectedRequest},
		"a name, where other machines may ask":    {listen: "0.0.0.0:0", host: "observe.default.svc:11251", want: http.StatusOK},
		"a pod's address, for other machines too": {listen: "0.0.0.0:0", host: "10.0.0.7:11251", want: http.StatusOK},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, port, err := net.SplitHostPort(serveAt(t, tc.listen, healthy))
			require.NoError(t, err)
			for _, path := range []string{"/metrics", "/healthz"} {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+path, nil)
				require.NoError(t, err)
				request.Host = tc.host
				response, err := http.DefaultClient.Do(request)
				require.NoError(t, err)
				response.Body.Close()
				assert.Equal(t, tc.want, response.StatusCode, path)
			}
		})
	}
}

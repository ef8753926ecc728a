package podruntime

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

func TestReal(t *testing.T) {
	c := shared(t, "coast", "harbour")
	bell := podWriter{c.Client, "coast", "bell"}
	require.NoError(t, bell.create(t.Context()))
	require.NoError(t, bell.status(runs(time.Now().Add(-time.Hour)))(t.Context()))
	require.NoError(t, podWriter{c.Client, "harbour", "buoy"}.create(t.Context()))

	t.Run("the whole program", func(t *testing.T) { theWholeProgram(t, c) })
	t.Run("without a monitor, and since creation", func(t *testing.T) { withoutMonitor(t, c) })
	t.Run("unhealthy until the cache has synced", func(t *testing.T) { unhealthyAtFirst(t, c) })
	t.Run("one request at the start, and none for an event", func(t *testing.T) { oneRequest(t, c) })
	t.Run("what cannot work is an error", func(t *testing.T) { refusals(t, c) })
}

func theWholeProgram(t *testing.T, c *testcluster.Cluster) {
	var stdout, stderr testcluster.Output
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		done <- program(ctx, []string{"-n", "coast", "--listen-addr=:0", "--kubeconfig", c.Kubeconfig}, &stdout, &stderr)
	}()
	var printed, noted string
	assert.Eventually(t, func() bool {
		printed, noted = printed+stdout.Take(), noted+stderr.Take()
		return printed != "" && noted != ""
	}, testcluster.TestTimeout, 10*time.Millisecond)
	assert.Regexp(t, `^Pods in namespace coast have been running for 6\d\.\d\d minutes\.\n$`, printed)
	assert.Regexp(t, `^# metrics: http://127\.0\.0\.1:\d+/metrics\n$`, noted)
	metrics := strings.TrimSpace(strings.TrimPrefix(noted, "# metrics: "))
	_, body := get(t, metrics)
	assert.Regexp(t, `pod_runtime_seconds{namespace="coast"} (3[6-9]|4[01])\d\d`, body)
	assert.NotContains(t, body, "harbour")
	cancel()
	assert.Zero(t, <-done)
}

func withoutMonitor(t *testing.T, c *testcluster.Cluster) {
	var stdout, stderr testcluster.Output
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		done <- program(ctx, []string{"-A", "--since=creation", "--listen-addr=", "--kubeconfig", c.Kubeconfig}, &stdout, &stderr)
	}()
	var printed string
	assert.Eventually(t, func() bool {
		printed += stdout.Take()
		return len(lines(printed)) == 2
	}, testcluster.TestTimeout, 10*time.Millisecond)
	assert.Regexp(t, `(?m)^Pods in namespace coast have been running for \d\.\d\d minutes\.$`, printed, "it says that it began an hour ago")
	assert.Contains(t, printed, "Pods in namespace harbour")
	cancel()
	assert.Zero(t, <-done)
	assert.Empty(t, stderr.Take())
}

// unhealthyAtFirst has a server before the API server that lets only checkAccess pass.
func unhealthyAtFirst(t *testing.T, c *testcluster.Cluster) {
	target, err := url.Parse(c.Config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(c.Config)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = transport
	var allowed atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("limit") != "1" && !allowed.Load() {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)

	var stderr testcluster.Output
	ctx, cancel := context.WithCancel(t.Context())
	args := []string{"-A", "--listen-addr=:0", "--kubeconfig", writeKubeconfig(t, server.URL)}
	done := make(chan int)
	go func() { done <- program(ctx, args, io.Discard, &stderr) }()
	var noted string
	assert.Eventually(t, func() bool {
		noted += stderr.Take()
		return noted != ""
	}, testcluster.TestTimeout, 10*time.Millisecond)
	metrics := strings.TrimSpace(strings.TrimPrefix(noted, "# metrics: "))
	health := strings.TrimSuffix(metrics, "metrics") + "healthz"

	code, body := get(t, health)
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Equal(t, "the cache has not synced yet\n", body)
	_, body = get(t, metrics)
	assert.NotContains(t, body, "pod_runtime_seconds{")

	allowed.Store(true)
	assert.Eventually(t, func() bool {
		code, _ := get(t, health)
		return code == http.StatusOK
	}, testcluster.TestTimeout, 10*time.Millisecond)
	_, body = get(t, metrics)
	assert.Contains(t, body, `pod_runtime_seconds{namespace="harbour"} 0`)
	cancel()
	assert.Zero(t, <-done)
}

// writeKubeconfig returns the path of a kubeconfig for the server at an address.
func writeKubeconfig(t *testing.T, address string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
users: [{name: test, user: {token: test}}]
current-context: test
`, address), 0o600))
	return path
}

func oneRequest(t *testing.T, c *testcluster.Cluster) {
	requests := &requests{}
	config := rest.CopyConfig(c.Config)
	config.Wrap(requests.count)
	var out testcluster.Output
	background(t, kubernetes.NewForConfigOrDie(config), &out)
	var printed string
	printedTimes := func(times int) func() bool {
		return func() bool {
			printed += out.Take()
			return strings.Count(printed, "namespace coast") >= times
		}
	}
	require.Eventually(t, printedTimes(1), testcluster.TestTimeout, 10*time.Millisecond)

	bell := podWriter{c.Client, "coast", "bell"}
	for i := range 10 {
		require.NoError(t, bell.status(runs(time.Now().Add(-time.Duration(i)*time.Minute)))(t.Context()))
		require.Eventually(t, printedTimes(i+2), testcluster.TestTimeout, 10*time.Millisecond)
	}
	all := requests.all()
	require.Len(t, all, 1)
	assert.Equal(t, "true", all[0].Query().Get("watch"))
	assert.Equal(t, "true", all[0].Query().Get("sendInitialEvents"), "the pods that are there come as a stream")
}

// requests are those that a client has made.
type requests struct {
	mu   sync.Mutex
	urls []*url.URL
}

// count puts itself around the transport of a client.
func (r *requests) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		r.mu.Lock()
		r.urls = append(r.urls, request.URL)
		r.mu.Unlock()
		return next.RoundTrip(request)
	})
}

func (r *requests) all() []*url.URL {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.urls)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func refusals(t *testing.T, c *testcluster.Cluster) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	address := taken.Addr().String()

	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"forbidden": {
			[]string{"--kubeconfig", c.UserKubeconfig(t, "nobody")},
			`pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the namespace "default"; ask an administrator for that verb on that resource`,
		},
		"unreachable": {
			[]string{"--kubeconfig", writeKubeconfig(t, "https://127.0.0.1:1")},
			"https://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)",
		},
		"the port is in use": {
			[]string{"--kubeconfig", c.Kubeconfig, "--listen-addr", address},
			"--listen-addr: listen tcp " + address + ": bind: address already in use; choose another address",
		},
		"no port at all": {
			[]string{"--kubeconfig", c.Kubeconfig, "--listen-addr", "11252"},
			"--listen-addr: address 11252: missing port in address; an address looks like 127.0.0.1:8080 or :8080",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, program(t.Context(), tc.args, &stdout, &stderr))
			assert.Equal(t, "error: "+tc.want+"\n", stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

func get(t *testing.T, url string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(content)
}

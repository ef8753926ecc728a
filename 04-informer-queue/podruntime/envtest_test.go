package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) {
	if os.Getenv("AS_PROGRAM") != "" {
		main()
		os.Exit(0)
	}
	testcluster.Main(m)
}

func TestTheWholeProgram(t *testing.T) {
	c := testcluster.Shared(t)
	starts := func(namespace, name string, hoursAgo time.Duration) {
		t.Helper()
		c.CreatePod(t, pod(namespace, name, runs(time.Now().Add(-hoursAgo*time.Hour))))
	}
	starts("coast", "bell", 1)
	starts("harbour", "buoy", 0)
	var requests atomic.Int32
	proxy, config := testcluster.StartProxy(t, c.Config)
	testcluster.Through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		requests.Add(1)
		return next.RoundTrip(r)
	})(config)
	var out testcluster.Output
	_, stop := testcluster.Run(t, func(ctx context.Context) error {
		return run(ctx, config, &out, options{namespace: "coast", workers: 2})
	})
	prints := func(minutes string) {
		t.Helper()
		last := regexp.MustCompile("Pods in namespace coast have been running for " + minutes + " minutes\\.\n$")
		require.Eventually(t, func() bool { return last.MatchString(out.String()) }, testcluster.TestTimeout, 10*time.Millisecond, last.String())
	}
	prints(`6\d\.\d\d`)
	starts("coast", "gull", 1)
	prints(`12\d\.\d\d`)
	assert.EqualValues(t, 1, requests.Load(), "one request at the start, and none for an event")

	proxy.Refuse() // while there is no connection, a pod goes and one comes
	c.DeletePod(t, "coast", "bell")
	starts("coast", "lamp", 2)
	proxy.Allow()
	prints(`18\d\.\d\d`)
	c.DeletePod(t, "coast", "gull")
	c.DeletePod(t, "coast", "lamp")
	prints(`0\.00`)
	c.DeletePod(t, "harbour", "buoy")
	stop()
	assert.NotContains(t, out.String(), "harbour", "other namespaces are not watched")
}

func TestItServesUntilItIsStopped(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c, _ := cached(io.Discard)
	defer c.queue.ShutDown()
	stop := c.serve(listener, func() bool { return true })
	response, err := http.Get("http://" + listener.Addr().String() + "/healthz")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	second := func(listen string) error {
		return run(ctx, &rest.Config{Host: "http://127.0.0.1:1"}, io.Discard, options{workers: 2, listen: listen})
	}
	require.ErrorContains(t, second(listener.Addr().String()), "-listen: listen tcp "+listener.Addr().String()+": bind: address already in use")
	require.NoError(t, second("127.0.0.1:0"), "to be stopped before the cache is full is no error")
	stop()
	require.ErrorIs(t, listener.Close(), net.ErrClosed)
}

func TestFlagsAfterAStrayWordAreNotIgnored(t *testing.T) {
	program := exec.CommandContext(t.Context(), os.Args[0], "x", "-listen=")
	program.Env = []string{"AS_PROGRAM=podruntime", "KUBECONFIG=/nowhere"}
	output, err := program.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, 2, program.ProcessState.ExitCode())
	assert.Equal(t, "error: \"x\" isn't a flag, and all flags after it would be ignored\n", string(output))
}

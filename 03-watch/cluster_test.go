package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// testTimeout bounds each wait of a test. It is long, because a test machine may
// be busy, and costs nothing: a test goes on as soon as its condition holds.
var testTimeout = func() time.Duration {
	timeout, err := time.ParseDuration(cmp.Or(os.Getenv("TEST_TIMEOUT"), "2m"))
	if err != nil {
		panic("reading TEST_TIMEOUT: " + err.Error())
	}
	return timeout
}()

// cluster is a real API server with its etcd, and nothing else. The API server
// can be killed; it starts again at once.
type cluster struct {
	*envtest.Environment
	dir        string       // its files
	config     *rest.Config // the administrator
	client     kubernetes.Interface
	kubeconfig string // the same, as a file
	pidFile    string // of the API server
}

const runFirst = "run `make lab`, then `make test-3`, at the root of the repository"

// startCluster starts a cluster that ends with the test: for a test that kills it
// or needs flags of its own.
func startCluster(t testing.TB, flags ...string) *cluster {
	t.Helper()
	c, err := newCluster(flags...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.stop()) })
	return c
}

// shared is the cluster of all other tests. TestMain stops it.
var shared *cluster

// sharedCluster starts it for the first test that needs it. Each test makes
// namespaces of its own.
func sharedCluster(t *testing.T) *cluster {
	t.Helper()
	if shared == nil { // the tests of this package run one after the other
		var err error
		shared, err = newCluster()
		require.NoError(t, err)
	}
	return shared
}

// newCluster starts a cluster. envtest finds the two programs in the folder that
// KUBEBUILDER_ASSETS names.
func newCluster(flags ...string) (*cluster, error) {
	// Go's test cache sees the variables that a test reads, but not the programs
	// that it starts: this one holds their hash.
	_ = os.Getenv("TEST_INPUTS")
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		return nil, errors.New("this test needs a real API server: " + runFirst)
	}
	dir, err := os.MkdirTemp("", "watch-test-")
	if err != nil {
		return nil, err
	}
	env := &envtest.Environment{ControlPlaneStartTimeout: testTimeout, ControlPlaneStopTimeout: testTimeout}
	c := &cluster{Environment: env, dir: dir, pidFile: filepath.Join(dir, "pid")}
	server := c.ControlPlane.GetAPIServer()
	server.Path = filepath.Join(dir, "kube-apiserver")
	if err := writeRestarter(server.Path, filepath.Join(assets, "kube-apiserver"), c.pidFile); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		server.Configure().Append(name, value)
	}
	config, err := c.Start()
	if err != nil { // a start that fails half-way has started half
		return nil, errors.Join(fmt.Errorf("starting the API server from KUBEBUILDER_ASSETS: %w: %s", err, runFirst), c.stop())
	}
	config.QPS = -1
	c.config = config
	c.client = kubernetes.NewForConfigOrDie(config)
	c.kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(c.kubeconfig, c.KubeConfig, 0o600); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *cluster) stop() error { return errors.Join(c.Stop(), os.RemoveAll(c.dir)) }

// writeRestarter writes a script that runs the API server, and runs it again when
// it was killed. It is what the kubelet does for an API server in a static pod.
func writeRestarter(script, program, pidFile string) error {
	return os.WriteFile(script, fmt.Appendf(nil, `#!/bin/sh
trap 'kill "$pid"; wait "$pid"; exit' TERM
while :; do
	%q "$@" &
	pid=$!
	echo "$pid" >%q
	wait "$pid" && exit
done
`, program, pidFile), 0o700)
}

// killServer ends the API server with SIGKILL.
func (c *cluster) killServer(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(c.pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

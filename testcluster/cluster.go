// Package testcluster gives tests a real API server that can be mistreated: it
// can be killed, and a proxy before it can drop connections. The tests of all stages
// share it; no program does.
package testcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Cluster is a real API server with its etcd, and nothing else: nothing runs
// pods, collects garbage or empties namespaces.
type Cluster struct {
	*envtest.Environment
	Config     *rest.Config         // the administrator
	Client     kubernetes.Interface // the same, without a limit on requests
	Kubeconfig string               // the same, as the path of a file

	dir    string     // what the cluster has in files
	adding sync.Mutex // envtest adds one user at a time
}

const runFirst = "run `make lab`, then `make test`, at the root of the repository"

// Start starts a cluster that ends with the test. It is for a test that mistreats
// its cluster; others take the one of Shared. The flags, as name=value, are added
// to those of the API server.
func Start(t testing.TB, flags ...string) *Cluster {
	t.Helper()
	c, err := start(flags...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.end()) })
	return c
}

// DependOnInputs makes the result of a test depend on what it reads outside of its
// module. Go's test cache sees the variables that a test reads, but neither files of
// other modules nor the programs that a test starts: this one holds their hash.
func DependOnInputs() { _ = os.Getenv("TEST_INPUTS") }

// start starts a cluster. envtest finds the two programs in the folder that
// KUBEBUILDER_ASSETS names.
func start(flags ...string) (*Cluster, error) {
	DependOnInputs()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		return nil, errors.New("this test needs a real API server: " + runFirst)
	}
	log.SetLogger(logr.Discard()) // envtest's
	dir, err := os.MkdirTemp("", "testcluster-")
	if err != nil {
		return nil, err
	}

	c := &Cluster{Environment: &envtest.Environment{}, dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig")}
	// A short TEST_TIMEOUT is for tests that wait in vain, and not for a slow start.
	c.ControlPlaneStartTimeout = max(TestTimeout, time.Minute)
	c.ControlPlaneStopTimeout = c.ControlPlaneStartTimeout
	server := c.ControlPlane.GetAPIServer()
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		server.Configure().Append(name, value)
	}
	if server.Path, err = c.restarter(filepath.Join(assets, "kube-apiserver")); err == nil {
		err = c.up()
	}
	if err != nil {
		// A start that fails half-way has started half.
		return nil, errors.Join(fmt.Errorf("starting the API server from KUBEBUILDER_ASSETS: %w: %s", err, runFirst), c.end())
	}
	return c, nil
}

// up starts the programs, and connects to them.
func (c *Cluster) up() (err error) {
	if c.Config, err = c.Start(); err != nil {
		return err
	}
	c.Config.QPS = -1
	if c.Client, err = kubernetes.NewForConfig(c.Config); err != nil {
		return err
	}
	return os.WriteFile(c.Kubeconfig, c.KubeConfig, 0o600)
}

// end stops the cluster.
func (c *Cluster) end() error { return errors.Join(c.Stop(), os.RemoveAll(c.dir)) }

// restarter writes a script that runs the API server, and runs it again when it
// was killed. It is what the kubelet does for an API server in a static pod.
func (c *Cluster) restarter(program string) (script string, err error) {
	script = filepath.Join(c.dir, "kube-apiserver")
	return script, os.WriteFile(script, fmt.Appendf(nil, `#!/bin/sh
trap 'kill $!; wait $!; exit' TERM
while :; do
	%q "$@" &
	echo $! >%q
	wait $! && exit
done
`, program, c.pidFile()), 0o700)
}

func (c *Cluster) pidFile() string { return filepath.Join(c.dir, "pid") }

// KillServer ends the API server with SIGKILL. It starts again at once.
func (c *Cluster) KillServer(t testing.TB) {
	t.Helper()
	content, err := os.ReadFile(c.pidFile())
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

// Package testcluster gives tests a real API server that can be mistreated: it
// can be killed, and a proxy before it can drop connections.
package testcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

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
	Config *rest.Config         // the administrator
	Client kubernetes.Interface // the same, without a limit on requests

	pidFile string // of the API server
	adding  sync.Mutex
}

const runFirst = "run `make lab`, then `make test-5`, at the root of the repository"

// Start starts a cluster that ends with the test. envtest finds the two programs
// in the folder that KUBEBUILDER_ASSETS names. The flags, as name=value, are
// added to those of the API server.
func Start(t testing.TB, flags ...string) *Cluster {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	require.NotEmpty(t, assets, "this test needs a real API server: "+runFirst)
	log.SetLogger(logr.Discard()) // envtest's

	c := &Cluster{Environment: &envtest.Environment{}, pidFile: filepath.Join(t.TempDir(), "pid")}
	server := c.ControlPlane.GetAPIServer()
	server.Path = restarter(t, filepath.Join(assets, "kube-apiserver"), c.pidFile)
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		server.Configure().Append(name, value)
	}
	config, err := c.Start()
	// A start that fails half-way has started half.
	t.Cleanup(func() { assert.NoError(t, c.Stop()) })
	require.NoError(t, err, "starting the API server from KUBEBUILDER_ASSETS: "+runFirst)
	config.QPS = -1
	c.Config = config
	c.Client = kubernetes.NewForConfigOrDie(config)
	return c
}

// restarter writes a script that runs the API server, and runs it again when it
// was killed. It is what the kubelet does for an API server in a static pod.
func restarter(t testing.TB, program, pidFile string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "kube-apiserver")
	require.NoError(t, os.WriteFile(script, fmt.Appendf(nil, `#!/bin/sh
trap 'kill "$pid"; wait "$pid"; exit' TERM
while :; do
	%q "$@" &
	pid=$!
	echo "$pid" >%q
	wait "$pid" && exit
done
`, program, pidFile), 0o700))
	return script
}

// KillServer ends the API server with SIGKILL. It starts again at once.
func (c *Cluster) KillServer(t testing.TB) {
	t.Helper()
	content, err := os.ReadFile(c.pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

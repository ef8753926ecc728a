// Package testcluster gives tests a real API server.
package testcluster

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestTimeout bounds each wait of a test. It is long, because a test machine may
// be busy, and costs nothing: a test goes on as soon as its condition holds.
var TestTimeout = func() time.Duration {
	timeout, err := time.ParseDuration(cmp.Or(os.Getenv("TEST_TIMEOUT"), "2m"))
	if err != nil {
		panic("reading TEST_TIMEOUT: " + err.Error())
	}
	return timeout
}()

// Cluster is a real API server with its etcd, and nothing else: no controller
// works, and no node runs a pod.
type Cluster struct {
	*envtest.Environment
	Config     *rest.Config // the administrator
	Kubeconfig string       // the same, as the path of a file
}

// Start starts a cluster that ends with the test. The flags, as name=value, are
// added to those of the API server. envtest finds the programs in the folder that
// KUBEBUILDER_ASSETS names.
func Start(t testing.TB, flags ...string) *Cluster {
	t.Helper()
	const runFirst = "run `make lab`, then `make test`, at the root of the repository"
	// Go's test cache sees the variables that a test reads, but not the programs
	// that it starts: this one holds their hash.
	_ = os.Getenv("TEST_INPUTS")
	require.NotEmpty(t, os.Getenv("KUBEBUILDER_ASSETS"), "this test needs a real API server: "+runFirst)
	log.SetLogger(logr.Discard()) // envtest's

	// A short TEST_TIMEOUT is for tests that wait in vain, and not for a slow start.
	startTimeout := max(TestTimeout, time.Minute)
	env := &envtest.Environment{ControlPlaneStartTimeout: startTimeout, ControlPlaneStopTimeout: startTimeout}
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		env.ControlPlane.GetAPIServer().Configure().Append(name, value)
	}
	config, err := env.Start()
	// A start that fails half-way has started half.
	t.Cleanup(func() { assert.NoError(t, env.Stop()) })
	require.NoError(t, err, "starting the API server from KUBEBUILDER_ASSETS: "+runFirst)
	config.QPS = -1
	return &Cluster{env, config, writeFile(t, env.KubeConfig)}
}

// UserKubeconfig returns a kubeconfig for a new user without any rights.
func (c *Cluster) UserKubeconfig(t testing.TB, name string) string {
	t.Helper()
	user, err := c.AddUser(envtest.User{Name: name}, nil)
	require.NoError(t, err)
	content, err := user.KubeConfig()
	require.NoError(t, err)
	return writeFile(t, content)
}

func writeFile(t testing.TB, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

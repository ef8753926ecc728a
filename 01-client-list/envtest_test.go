package main

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// cluster is a real API server with its etcd, and nothing else.
type cluster struct {
	*envtest.Environment
	config     *rest.Config // the administrator
	kubeconfig string       // the same, as a file
}

// startCluster starts a cluster that ends with the test. envtest finds the two
// programs in the folder that KUBEBUILDER_ASSETS names.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	// Go's test cache sees the variables that a test reads, but not the programs
	// that it starts: this one holds their hash.
	_ = os.Getenv("TEST_INPUTS")
	require.NotEmpty(t, os.Getenv("KUBEBUILDER_ASSETS"),
		"this test needs a real API server: run `make lab`, then `make test-1`, at the root of the repository")

	env := &envtest.Environment{ControlPlaneStartTimeout: testTimeout, ControlPlaneStopTimeout: testTimeout}
	// Without its cache, the API server asks etcd for each page, so a Continue token
	// expires when etcd forgets its moment.
	env.ControlPlane.GetAPIServer().Configure().Set("watch-cache-sizes", "namespaces#0")
	config, err := env.Start()
	// A start that fails half-way has started half.
	t.Cleanup(func() { assert.NoError(t, env.Stop()) })
	require.NoError(t, err, "starting the API server from KUBEBUILDER_ASSETS: run `make lab`, then `make test-1`, at the root of the repository")
	config.QPS = -1
	return &cluster{env, config, writeFile(t, env.KubeConfig)}
}

// userKubeconfig returns a kubeconfig for a new user without any rights.
func (c *cluster) userKubeconfig(t *testing.T, name string) string {
	t.Helper()
	user, err := c.AddUser(envtest.User{Name: name}, nil)
	require.NoError(t, err)
	kubeconfig, err := user.KubeConfig()
	require.NoError(t, err)
	return writeFile(t, kubeconfig)
}

func writeFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

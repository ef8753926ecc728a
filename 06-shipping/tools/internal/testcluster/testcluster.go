// Package testcluster gives tests a real API server.
package testcluster

import (
	"cmp"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestTimeout is how long tests wait for what has to come. To wait long costs
// nothing when it comes, so this is enough for a machine that is busy with other
// things as well.
var TestTimeout = testTimeout()

func testTimeout() time.Duration {
	d, err := time.ParseDuration(cmp.Or(os.Getenv("TEST_TIMEOUT"), "2m"))
	if err != nil {
		panic("reading TEST_TIMEOUT: " + err.Error())
	}
	return d
}

// DependOnInputs makes the result of a test depend on what it reads outside of this
// module. Go's test cache sees the variables that a test reads, but neither files of
// other modules nor the programs that a test starts: this one holds their hash.
func DependOnInputs() { _ = os.Getenv("TEST_INPUTS") }

// Start starts an API server with its etcd, which end with the test, and installs the
// CRDs of those folders. Nothing in it runs pods. The flags are the API server's own:
// a name and a value, and so on.
func Start(t testing.TB, crds []string, flags ...string) *envtest.Environment {
	t.Helper()
	DependOnInputs()
	require.NotEmpty(t, os.Getenv("KUBEBUILDER_ASSETS"), "this test needs a real API server: run `make lab`, then `make test`, at the root of the repository")
	log.SetLogger(logr.Discard()) // envtest's
	// A short TEST_TIMEOUT is for tests that wait in vain, and not for a slow start.
	startTimeout := max(TestTimeout, time.Minute)
	environment := &envtest.Environment{ControlPlaneStartTimeout: startTimeout, ControlPlaneStopTimeout: startTimeout}
	for i := 0; i < len(flags); i += 2 {
		environment.ControlPlane.GetAPIServer().Configure().Append(flags[i], flags[i+1])
	}
	_, err := environment.Start()
	// A start that fails half-way has started half.
	t.Cleanup(func() { assert.NoError(t, environment.Stop()) })
	require.NoError(t, err)
	InstallCRDs(t, environment, crds...)
	return environment
}

// InstallCRDs installs the CRDs of these folders, and waits until the server knows
// them.
func InstallCRDs(t testing.TB, environment *envtest.Environment, folders ...string) {
	t.Helper()
	_, err := envtest.InstallCRDs(environment.Config, envtest.CRDInstallOptions{Paths: folders, ErrorIfPathMissing: true, MaxTime: max(TestTimeout, time.Minute)})
	require.NoError(t, err)
}

package testcluster

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
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

// shared is the cluster of Shared, once a test has called that.
var shared struct {
	once    sync.Once
	cluster *Cluster
	err     error
}

// Shared returns the cluster that all tests of a package share which do not
// mistreat it: to start one takes longer than most tests. Each test has namespaces
// of its own in it. The cluster ends with Main.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	shared.once.Do(func() { shared.cluster, shared.err = start() })
	require.NoError(t, shared.err)
	return shared.cluster
}

// Main is the TestMain of a package that shares a cluster: it ends that, and then
// sees that no goroutine is left.
func Main(m *testing.M) { goleak.VerifyTestMain(sharing{m}) }

type sharing struct{ *testing.M }

// Run runs the tests, and returns the exit code.
func (m sharing) Run() int {
	code := m.M.Run()
	if shared.cluster != nil {
		if err := shared.cluster.end(); err != nil {
			fmt.Fprintln(os.Stderr, "ending the cluster:", err)
			code = cmp.Or(code, 1)
		}
	}
	// With the cluster, its connections end, and then the goroutines that read from them. On a
	// busy machine that takes longer than the second or two for which goleak looks.
	for end := time.Now().Add(TestTimeout); code == 0 && goleak.Find() != nil && time.Now().Before(end); {
	}
	return code
}

package member

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// PostgreSQL's own processes go on while the first one is frozen, and for some time when that is
// gone. A member that has stopped must have none.
func TestAFrozenPostgreSQLEndsAsAWhole(t *testing.T) {
	t.Parallel()
	if testpostgres.RanAsNobody(t) {
		return
	}
	a := lone(t, writeSecrets(t))
	awaitAnswer(t, a.server, "CREATE TABLE rows (n int); SELECT 1", "1")
	busy, ended := newClient(t, a.server), make(chan error, 1)
	go func() {
		_, err := busy.within(context.WithoutCancel(t.Context()), testcluster.TestTimeout, "INSERT INTO rows SELECT generate_series(1, 1000000000)")
		ended <- err
	}()
	awaitAnswer(t, a.server, "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'INSERT%'", "1")
	pid := a.server.process.Load().cmd.Process.Pid
	own := children(pid)
	require.NotEmpty(t, own)

	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	cause, err := a.attempt(t.Context())
	assert.Equal(t, plan.Frozen, cause, "%v", err)
	assert.Empty(t, ended, "the writer goes on")
	a.server.stopImmediate()
	for _, pid := range own { // each was killed; on a busy machine it may take a moment until the kernel has ended it
		require.Eventually(t, func() bool {
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		}, testcluster.TestTimeout, time.Millisecond, "process %d", pid)
	}
	require.Error(t, <-ended)
	begin(t, a.server)
	awaitAnswer(t, a.server, "SELECT count(*) FROM rows", "0")
}

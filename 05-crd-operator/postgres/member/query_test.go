package member

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testport"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/testcluster"
)

// A standby outlives its primary: it waits, however long that takes.
func TestPrimaryThatCannotBeReachedIsNoFailure(t *testing.T) {
	files := secrets(t.TempDir())
	bundle := certificate.Read(nil, "uid")
	issued, err := bundle.Issue([]string{"db-1"}, time.Now())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files.bundle(), issued.CA, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(string(files), replicator), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(string(files), replicator, "password"), []byte("password"), 0o600))
	for name, address := range map[string]string{
		"it has published no address":   "",
		"nobody listens at its address": testport.Hold(t, "127.0.0.1"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := connectMember(t.Context(), peer{"db-1", address, "uid"}, files)
			assert.ErrorIs(t, err, errUnreachable)
		})
	}
}

// Otherwise a recovery, which goes on asking, would never have an answer again.
func TestASessionThatWasCutOffIsOpenedAgain(t *testing.T) {
	t.Parallel()
	testpostgres.Find(t)
	if testpostgres.RanAsNobody(t) {
		return
	}
	to := lone(t, writeSecrets(t)).server.local("")
	var s session
	t.Cleanup(func() { s.close() })
	require.NoError(t, s.open(t.Context(), to))
	_, err := s.within(t.Context(), 10*time.Millisecond, "SELECT pg_sleep(60)")
	require.Error(t, err)
	require.NoError(t, s.open(t.Context(), to))
	row, err := s.row(t.Context(), "SELECT 1")
	require.NoError(t, err)
	assert.Equal(t, []string{"1"}, row)
}

// Somebody sets for a database and for all roles what would cut off the agent's sessions, too: on a standby for good.
func TestNobodyCutsOffTheAgent(t *testing.T) {
	t.Parallel()
	testpostgres.Find(t)
	if testpostgres.RanAsNobody(t) {
		return
	}
	s := lone(t, writeSecrets(t)).server
	run(t, newClient(t, s), "ALTER DATABASE postgres SET statement_timeout = '10ms'", "ALTER ROLE ALL SET default_transaction_isolation = 'serializable'")
	run(t, open(t, s.local("")), "SELECT pg_sleep(0.1)")
	s.stopFast(testcluster.TestTimeout)
	require.NoError(t, s.start())
	awaitAnswer(t, s, "SELECT pg_is_in_recovery()", "t")
}

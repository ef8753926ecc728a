package member

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A reader of a standby sees what the primary has deleted and vacuumed meanwhile, and its table is
// changed; somebody has paused replay, and has it wait for an hour. Any of these can hold replay, which a
// promotion comes after.
func TestNobodyHoldsAPromotion(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		runAsNobody(t)
		return
	}
	files := writeSecrets(t)
	a := lone(t, files)
	standby := newServer(t, a.server.programs, files, "db-2")
	awaitAnswer(t, a.server, "CREATE TABLE rows AS SELECT generate_series(1, 1000) AS n; SELECT 1", "1")
	source := peer{"db-1", a.server.settings.address, a.server.settings.uid}
	require.NoError(t, standby.clone(t.Context(), source, math.MaxInt64))
	begin(t, standby)
	standby.settings.primary = source
	require.NoError(t, standby.reload())
	awaitAnswer(t, standby, "SELECT "+receiving, "t")

	reader, idle := newClient(t, standby), newClient(t, standby)
	do := func(s session, commands ...string) {
		t.Helper()
		for _, command := range commands {
			_, err := s.rows(t.Context(), command)
			require.NoError(t, err, command)
		}
	}
	do(reader, "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM rows")
	do(newClient(t, a.server), "DELETE FROM rows", "VACUUM rows", "ALTER TABLE rows ADD COLUMN m int", "CREATE TABLE last AS SELECT 7 AS n")
	awaitAnswer(t, standby, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'startup' AND wait_event LIKE 'RecoveryConflict%'", "1")
	awaitAnswer(t, a.server, "SELECT bool_and(flush_lsn = pg_current_wal_flush_lsn()) FROM pg_stat_replication", "t")
	do(idle, "ALTER SYSTEM SET recovery_min_apply_delay = '1h'", "SELECT pg_reload_conf()", "SELECT pg_wal_replay_pause()")

	a.server.stopImmediate()
	s, err := connect(t.Context(), standby.local(""))
	require.NoError(t, err)
	defer s.close()
	began := time.Now()
	require.NoError(t, s.promote(t.Context()))
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
	awaitAnswer(t, standby, "SELECT n FROM last", "7")
	_, err = reader.rows(t.Context(), "SELECT 1")
	require.Error(t, err, "the transaction was ended")
	do(idle, "SELECT 1") // a session without one goes on
}

package member

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

const someHistory = "1\t0/3000000\tno recovery target specified\n"

// newHistories is a disk with these histories.
func newHistories(t *testing.T, contents map[string]string) layout {
	t.Helper()
	l := layout(t.TempDir())
	require.NoError(t, os.MkdirAll(l.log(), 0o700))
	for name, content := range contents {
		require.NoError(t, os.WriteFile(filepath.Join(l.log(), name), []byte(content), 0o600))
	}
	return l
}

func (l layout) contents(t *testing.T) map[string]string {
	t.Helper()
	contents := map[string]string{}
	entries, err := os.ReadDir(l.log())
	require.NoError(t, err)
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(l.log(), entry.Name()))
		require.NoError(t, err)
		contents[entry.Name()] = string(content)
	}
	return contents
}

func TestNumbersAreLeftOut(t *testing.T) {
	l := newHistories(t, map[string]string{"00000002.history": someHistory, "0000000A.history": someHistory})
	require.NoError(t, l.leaveOut(8, 0xC))
	assert.Equal(t, map[string]string{
		"00000002.history": someHistory, "00000008.history": archive.Placeholder, "00000009.history": archive.Placeholder,
		"0000000A.history": someHistory, "0000000B.history": archive.Placeholder,
	}, l.contents(t))
	assert.Equal(t, int32(0xB), l.newestTimeline())
}

func TestPlaceholdersAfterTheLastTimelineGo(t *testing.T) {
	l := newHistories(t, map[string]string{
		"00000002.history": archive.Placeholder, "00000003.history": someHistory, "00000004.history": archive.Placeholder,
		"00000005.history": "", "000000020000000000000004": "", // half a placeholder, and no history
	})
	require.NoError(t, l.dropPlaceholders())
	assert.Equal(t, map[string]string{"00000002.history": archive.Placeholder, "00000003.history": someHistory, "000000020000000000000004": ""}, l.contents(t))
	assert.Equal(t, int32(3), l.newestTimeline())
	assert.Zero(t, newHistories(t, nil).newestTimeline(), "a new database")
}

func TestACloneWritesHistories(t *testing.T) {
	second := "1\t0/300\tno recovery target specified\n"
	third := second + "\n2\t0/500\tno recovery target specified\n"
	own := third + "\n3\t0/12\tno recovery target specified\n"
	for n, want := range map[int32]string{2: second, 3: third, 5: archive.Placeholder, 12: archive.Placeholder, 20: own} {
		assert.Equal(t, want, historyOf(n, 20, own), "%d", n)
	}
}

func TestHistoryIsRead(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		want    []plan.Fork
	}{
		"as PostgreSQL writes it":               {"1\t0/300\tno recovery target specified\n\n2\t1/500\tno recovery target specified\n", []plan.Fork{{Timeline: 1, At: 0x300}, {Timeline: 2, At: 0x1_0000_0500}}},
		"of a timeline that was never begun":    {archive.Placeholder, nil},
		"one of these that a crash has cut off": {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseHistory(tc.content)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestHistoryThatCannotBeRead(t *testing.T) {
	for name, content := range map[string]string{
		"no timeline": "one\t0/300\tx\n",
		"no position": "1\n",
		"a number":    "1\t300\tx\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseHistory(content)
			assert.Error(t, err)
		})
	}
}

func TestPositionIsReadAsItIsPrinted(t *testing.T) {
	at, err := parseLSN("1A/2B3C4D5E")
	require.NoError(t, err)
	assert.Equal(t, "1A/2B3C4D5E", at.String())
}

// A reader of a standby sees what the primary has deleted and vacuumed meanwhile, and its table is
// changed; somebody has paused replay, and has it wait for an hour. Any of these can hold replay, which a
// promotion comes after.
func TestNobodyHoldsAPromotion(t *testing.T) {
	t.Parallel()
	if testpostgres.RanAsNobody(t) {
		return
	}
	files := writeSecrets(t)
	a := lone(t, files)
	standby := newServer(t, a.server.programs, files, "db-2")
	awaitAnswer(t, a.server, "CREATE TABLE rows AS SELECT generate_series(1, 1000) AS n; SELECT 1", "1")
	source := peer{"db-1", a.server.settings.address, a.server.settings.uid}
	require.NoError(t, standby.clone(t.Context(), source, math.MaxInt64))
	receiveFrom(t, standby, source)

	reader, idle := newClient(t, standby), newClient(t, standby)
	run(t, reader, "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM rows")
	run(t, newClient(t, a.server), "DELETE FROM rows", "VACUUM rows", "ALTER TABLE rows ADD COLUMN m int", "CREATE TABLE last AS SELECT 7 AS n")
	awaitAnswer(t, standby, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'startup' AND wait_event LIKE 'RecoveryConflict%'", "1")
	awaitAnswer(t, a.server, "SELECT bool_and(flush_lsn = pg_current_wal_flush_lsn()) FROM pg_stat_replication", "t")
	run(t, idle, "ALTER SYSTEM SET recovery_min_apply_delay = '1h'", "SELECT pg_reload_conf()", "SELECT pg_wal_replay_pause()")

	other := &agent{server: standby}
	t.Cleanup(other.session.close)
	require.ErrorIs(t, other.orReplays(t.Context(), context.DeadlineExceeded), errNotYet, "it has replayed the copy")
	require.NotErrorIs(t, other.orReplays(t.Context(), context.DeadlineExceeded), errNotYet, "it is held")

	a.server.stopImmediate()
	s := open(t, standby.local(""))
	began := time.Now()
	require.NoError(t, s.promote(t.Context(), promotionTimeout))
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
	awaitAnswer(t, standby, "SELECT n FROM last", "7")
	require.ErrorIs(t, other.orReplays(t.Context(), context.DeadlineExceeded), errNotYet, "it goes on")
	_, err := reader.rows(t.Context(), "SELECT 1")
	require.Error(t, err, "the transaction was ended")
	run(t, idle, "SELECT 1") // a session without one goes on
}

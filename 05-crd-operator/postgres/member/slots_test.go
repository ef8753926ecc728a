package member

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// The primary keeps no log but what a slot asks for. So a copy must not need what was written during
// it, and a standby that was away comes back by its slot alone.
func TestLogIsKeptForThoseWhoNeedIt(t *testing.T) {
	t.Parallel()
	if testpostgres.RanAsNobody(t) {
		return
	}
	files := writeSecrets(t)
	primary := lone(t, files).server
	standby := newServer(t, primary.programs, files, "db-2")
	p := open(t, primary.local(""))
	run(t, p, "CREATE TABLE rows (n int)", "ALTER SYSTEM SET wal_keep_size = 0", "SELECT pg_reload_conf()")
	awaitAnswer(t, primary, "SHOW wal_keep_size", "0")

	source := peer{"db-1", primary.settings.address, primary.settings.uid}
	sender, cloned := cloneSlowly(t, p, standby, source)
	writeLog(t, p, 1)
	require.NoError(t, syscall.Kill(sender, syscall.SIGCONT))
	require.NoError(t, <-cloned, "a copy that is slower than the log is removed")
	segments, err := filepath.Glob(filepath.Join(standby.files.log(), strings.Repeat("?", 24)))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(segments), 4, "the log that was written during the copy")
	receiveFrom(t, standby, source)
	awaitAnswer(t, standby, "SELECT max(n) FROM rows", "1") // which may be from the log that came with the copy
	awaitAnswer(t, primary, "SELECT active FROM pg_replication_slots", "t")

	require.NoError(t, p.dropSlots(t.Context(), nil))
	require.Equal(t, "1", slots(t, p), "a slot that is in use stays")
	standby.stopFast(testcluster.TestTimeout)
	awaitAnswer(t, primary, "SELECT active FROM pg_replication_slots", "f")
	require.NoError(t, p.dropSlots(t.Context(), []string{"member_2"}))
	require.Equal(t, "1", slots(t, p), "and one that is needed")
	writeLog(t, p, 2)
	receiveFrom(t, standby, source)
	awaitAnswer(t, standby, "SELECT max(n) FROM rows", "2")

	// It is given up, with a row that nobody else has.
	standby.settings.primary = peer{}
	require.NoError(t, standby.reload())
	awaitAnswer(t, standby, "SELECT "+notReceiving, "t")
	awaitAnswer(t, primary, "SELECT active FROM pg_replication_slots", "f") // which may hear of it later
	require.NoError(t, p.dropSlots(t.Context(), nil))
	assert.Equal(t, "0", slots(t, p), "nobody needs it")
	awaitAnswer(t, standby, "SELECT pg_promote()", "t")
	awaitAnswer(t, standby, "SELECT "+writable, "t")
	run(t, open(t, standby.local("")), "SET synchronous_commit = local", "INSERT INTO rows VALUES (7654321)")
	standby.stopImmediate()
	begin(t, standby) // it comes back, and its log has diverged
	awaitAnswer(t, standby, "SELECT max(n) FROM rows", "7654321")
	require.NoError(t, standby.setAside(plan.KeptFolder(7)))
	require.NoError(t, standby.clone(t.Context(), source, 1<<30))
	read := exec.CommandContext(t.Context(), filepath.Join(standby.programs, "postgres"), "--single", "-D", filepath.Join(string(standby.files), plan.KeptFolder(7)), "postgres")
	read.Stdin = strings.NewReader("SELECT max(n) FROM rows\n")
	output, err := read.CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Contains(t, string(output), `"7654321"`, "the row that was given up")

	run(t, p, "ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'", "SELECT pg_reload_conf()")
	awaitAnswer(t, primary, "SHOW max_slot_wal_keep_size", "1MB")
	writeLog(t, p, 3)
	awaitAnswer(t, primary, "SELECT wal_status FROM pg_replication_slots", "lost")
	require.NoError(t, p.reserve(t.Context(), "member_2"))
	awaitAnswer(t, primary, "SELECT wal_status FROM pg_replication_slots", "reserved")
}

// cloneSlowly clones, and stops the process that sends the copy in the middle of it. If the copy is
// there before that, it is made again.
func cloneSlowly(t *testing.T, s session, standby *server, source peer) (sender int, cloned chan error) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for t.Context().Err() == nil {
		cloned := make(chan error, 1)
		go func() { cloned <- standby.clone(t.Context(), source, 1<<30) }()
		for begun := false; !begun && len(cloned) == 0; <-tick.C {
			_, err := os.Stat(filepath.Join(standby.files.partial(), "backup_label")) // which comes first
			begun = err == nil
		}
		rows, err := s.rows(t.Context(), "SELECT pid FROM pg_stat_replication WHERE state = 'backup'")
		require.NoError(t, err)
		if len(rows) == 1 {
			sender, err = strconv.Atoi(rows[0][0])
			require.NoError(t, err)
			if syscall.Kill(sender, syscall.SIGSTOP) == nil {
				t.Cleanup(func() { _ = syscall.Kill(sender, syscall.SIGCONT) }) // it may be gone
				return sender, cloned
			}
		}
		require.NoError(t, <-cloned)
		require.NoError(t, os.RemoveAll(standby.files.database()))
	}
	return 0, nil
}

// writeLog writes several segments of log, and has PostgreSQL remove what nobody needs.
func writeLog(t *testing.T, s session, row int) {
	t.Helper()
	for range 4 {
		run(t, s, fmt.Sprintf("INSERT INTO rows VALUES (%d)", row), "SELECT pg_switch_wal()")
	}
	run(t, s, "CHECKPOINT")
}

func slots(t *testing.T, s session) string {
	t.Helper()
	row, err := s.row(t.Context(), "SELECT count(*) FROM pg_replication_slots")
	require.NoError(t, err)
	return row[0]
}

func TestSlotsOfMembers(t *testing.T) {
	status := postgres.PostgresClusterStatus{Primary: "a-db-1", Members: []postgres.MemberStatus{{Name: "a-db-1"}, {Name: "a-db-2"}, {Name: "a-db-7"}}}
	assert.Equal(t, []string{"member_2", "member_7"}, neededSlots(status, "a-db-1"))
	assert.Empty(t, neededSlots(status, "a-db-2"), "a standby needs none")
}

func TestSlotsNeverFillTheDisk(t *testing.T) {
	s := settings{address: ":5432", member: "db-2", capacity: 1 << 30}
	assert.Contains(t, s.file(layout("/data")), "max_slot_wal_keep_size = '131072kB'", "half of the share of the log")
	assert.Contains(t, s.file(layout("/data")), "primary_slot_name = ''")
	s.primary = peer{name: "db-1", address: "10.0.0.1:5432"}
	assert.Contains(t, s.file(layout("/data")), "primary_slot_name = 'member_2'")
}

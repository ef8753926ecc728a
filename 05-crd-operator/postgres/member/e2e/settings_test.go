package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// altered is the file that ALTER SYSTEM writes.
func (a *agent) altered() string {
	return filepath.Join(a.data, "database", "postgresql.auto.conf")
}

// alters does what ALTER SYSTEM does, which PostgreSQL refuses from 17 on.
func (a *agent) alters(lines string) {
	a.Helper()
	file, err := os.OpenFile(a.altered(), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(a, err)
	_, err = file.WriteString(lines + "\n")
	require.NoError(a, err)
	require.NoError(a, file.Close())
	a.sql("SELECT pg_reload_conf()")
}

// shows is a setting in a new session.
func (a *agent) shows(setting string) string {
	a.Helper()
	return a.sql("SHOW " + setting)[0]
}

// signalReceiver freezes what receives the log, or has it go on.
func (a *agent) signalReceiver(signal syscall.Signal) {
	a.Helper()
	pid, err := strconv.Atoi(a.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walreceiver'")[0])
	require.NoError(a, err)
	require.NoError(a, syscall.Kill(pid, signal))
}

func TestAlterSystemDoesNotReachThePromise(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, _ := e.seedTwo()
	first.alters("work_mem = '7MB'\nsynchronous_commit = 'local'\nfsync = 'off'\nfull_page_writes = 'off'\nrestart_after_crash = 'on'")
	e.eventually(func() bool { return first.shows("work_mem") == "7MB" }, "the file is read")
	for _, setting := range []string{"synchronous_commit", "fsync", "full_page_writes"} {
		assert.Equal(t, "on", first.shows(setting), setting)
	}
	assert.Equal(t, "off", first.shows("restart_after_crash"))
	e.eventually(func() bool {
		content, err := os.ReadFile(first.altered())
		require.NoError(t, err)
		return !strings.Contains(string(content), "fsync")
	}, "it is not in the file any more")
	assert.Equal(t, "7MB", first.shows("work_mem"), "what is not the agent's is left alone")
	assert.True(t, e.logged("db-1", "somebody has changed settings that the agent decides"))
}

// For a moment commits wait for nobody, and what is acknowledged then the standby may not have.
func TestAlteredNamesArePutBack(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	second.signalReceiver(syscall.SIGSTOP)
	first.alters("synchronous_standby_names = ''")
	perhaps := first.inserts("2") // before they are put back, or not
	r := first.awaits("has put them back", func(r report) bool { return r.Alone && r.Names == "db-2" })
	assert.Contains(t, r.Asynchronous, "somebody had changed synchronous_standby_names")
	assert.Empty(t, r.SyncedWith)
	commit := first.inserts("3")
	e.eventually(func() bool { return first.sql(waitingCommits)[0] != "0" }, "commits wait again")
	assert.Empty(t, commit)

	second.signalReceiver(syscall.SIGCONT)
	require.NoError(t, errors.Join(<-perhaps, <-commit))
	first.awaits("knows that the standby has all", func(r report) bool { return r.SyncedWith == "db-2" && !r.Alone })
	second.hasRows("1 2 3")
	first.awaits("reports it no more", func(r report) bool { return r.Asynchronous == "" })
}

// What a role or a database asks for, no setting forbids.
func TestRolesWhoseCommitsDoNotWaitAreReported(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, _ := e.seedTwo()
	first.sql("ALTER ROLE replication SET synchronous_commit = remote_apply") // which is more
	for command, reset := range map[string]string{
		"ALTER ROLE app SET synchronous_commit = off":                   "ALTER ROLE app RESET ALL",
		"ALTER ROLE app IN DATABASE app SET synchronous_commit = local": "ALTER ROLE app IN DATABASE app RESET ALL",
		"ALTER DATABASE app SET synchronous_commit = remote_write":      "ALTER DATABASE app RESET ALL",
		"ALTER ROLE ALL SET synchronous_commit = off":                   "ALTER ROLE ALL RESET ALL",
	} {
		first.sql(command)
		r := first.awaits("reports it", func(r report) bool { return strings.HasPrefix(r.Asynchronous, command+". RESET it") })
		assert.Equal(t, "db-2", r.SyncedWith, "commits of others wait")
		assert.False(t, r.Alone)
		first.sql(reset)
	}
	first.awaits("reports it no more", func(r report) bool { return r.Asynchronous == "" })
}

// A base backup has what ALTER SYSTEM has written.
func TestACloneHasTheSettingsOfItsAgent(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	first.alters("max_wal_senders = '3'\nwork_mem = '7MB'")
	second := e.join("db-2")
	assert.Equal(t, []string{"20", "7MB"}, []string{second.shows("max_wal_senders"), second.shows("work_mem")})
	first.stop()
	first = e.start("db-1")
	assert.Equal(t, []string{"20", "7MB"}, []string{first.shows("max_wal_senders"), first.shows("work_mem")})
}

// The next primary has more connections than the standby. That one was stopped before the last commit
// of the first primary, so it has nothing that the next one has not, and is not cloned again.
func TestAStandbyHasWhatItsPrimaryNeeds(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	e.join("db-3").stop()
	second.alters("max_connections = '200'")
	second.stop()
	second = e.start("db-2")
	e.streams("db-2")
	first.sql("INSERT INTO rows VALUES (2)")
	e.elect("db-2", "db-3")
	third := e.start("db-3")
	e.eventually(func() bool { return e.logged("db-3", "it starts again with what it needs") }, "db-3 has noticed")
	second.sql("INSERT INTO rows VALUES (3)")
	third.hasRows("1 2 3")
	assert.Equal(t, "200", third.shows("max_connections"))
	second.kill()
	e.elect("db-3", "").sql("INSERT INTO rows VALUES (4)")
}

// The log of an archive comes to a primary that had more connections than its base backup.
func TestRestoreOfAPrimaryThatHadMore(t *testing.T) {
	t.Parallel()
	e := newBackedUp(t)
	first := e.seed()
	first.sql(createRows)
	first.archived()
	require.Empty(t, e.backUp(first))
	first.alters("max_connections = '200'")
	first.stop()
	first = e.start("db-1")
	e.elect("db-1", "")
	first.sql("INSERT INTO rows VALUES (2)")
	then := first.archived()
	first.sql("INSERT INTO rows VALUES (3)")
	first.archived()
	first.stop()

	for name, tc := range map[string]struct {
		until *metav1.Time
		want  []string
	}{
		"all":          {nil, []string{"1", "2", "3"}},
		"until a time": {&metav1.Time{Time: then}, []string{"1", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			restored := newBackedUp(t)
			first := restored.restore(e, tc.until)
			first.awaits("has restored", func(r report) bool { return r.Restored != nil && r.Running })
			restored.promote("db-1", "")
			assert.Equal(t, tc.want, first.rows())
			assert.Equal(t, "200", first.shows("max_connections"))
		})
	}
}

package e2e

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testrights"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

func TestStandbyTakesOver(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, _ := e.seedTwo()
	e.join("db-3")
	first.sql("INSERT INTO rows VALUES (2)")

	first.kill()
	second := e.elect("db-2", "db-3")
	assert.Equal(t, []string{"1", "2"}, second.rows())
	e.streams("db-3")
	second.sql("INSERT INTO rows VALUES (3)")
	e.start("db-1")
	e.streams("db-1")
}

// The standby was cloned when commits waited for nobody. It would acknowledge them alone if it
// was promoted before it is told for whom to wait.
func TestPromotedMemberAcknowledgesNothingAlone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	first.sql(createRows)
	e.join("db-2")

	first.kill()
	commit := e.agents["db-2"].inserts("2")
	e.elect("db-2", "db-1").waits(commit)
	e.start("db-1")
	e.streams("db-1")
	assert.NoError(t, <-commit, "the commit, once it is on two disks")
}

// A standby reports how far it is when it has received something. Without that, a commit that
// waited for another one would go on waiting until PostgreSQL asks.
func TestNewStandbyIsSentSomeLog(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	primary := e.seed()
	e.join("db-2")
	e.join("db-3")
	e.sync("db-2")
	const end = "SELECT pg_current_wal_flush_lsn()"
	before := primary.sql(end)
	e.sync("db-3")
	assert.NotEqual(t, before, primary.sql(end))
}

// A commit that waits for a standby is there already, for those who read. To cancel it would be
// to acknowledge it.
func TestStoppedPrimaryAcknowledgesNothing(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	second.kill()
	commit := first.inserts("2")
	first.waits(commit)
	e.beginElection()
	require.Error(t, <-commit)
	first.awaits("takes no writes", func(r report) bool { return r.Running && !r.Writable })
	e.eventually(func() bool { return e.holder() == "" }, "the Lease is free")
}

// In the course of it, agents use all their rights.
func TestSwitchover(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	requests := testrights.Requests{Named: true}
	e.config = requests.StartProxy(t, e.config)
	e.variables = []string{"KUBE_FEATURE_WatchListClient=false"} // not every server can send a list as the beginning of a watch
	first, _ := e.seedTwo()
	mark := filepath.Join(first.data, "database", "mark")
	require.NoError(t, os.WriteFile(mark, nil, 0o600))

	second := e.elect("db-2", "db-1")
	e.streams("db-1")
	second.sql("INSERT INTO rows VALUES (2)")
	assert.FileExists(t, mark, "a primary that was stopped well is not cloned again")
	assert.Equal(t, testrights.Granted(e.rules), requests.Used())
}

// The agent of the primary is frozen, and nobody kills it: what still runs of the primary can
// acknowledge nothing, the Lease runs out, and in the end its log has diverged.
func TestFrozenPrimary(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()

	commit := e.freeze(first)
	e.serve()
	assert.Empty(t, commit)
	assert.Equal(t, []string{"1"}, second.rows())
	second.sql("INSERT INTO rows VALUES (3)")

	first.signal(syscall.SIGCONT)
	require.Error(t, <-commit)
	e.streams("db-1")
	first.hasRows("1 3")
}

// A standby that has just started has not replayed all that is on its disk, and does not know
// how far that goes.
func TestLogsAreComparedToTheirEnd(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	first, _ := e.seedTwo()
	third := e.join("db-3")
	third.alters("recovery_min_apply_delay = '10s'")
	first.sql("INSERT INTO rows VALUES (4)") // db-3 replays that later

	observer := first.connect()
	e.freeze(first)
	e.eventually(func() bool {
		has, err := query(t.Context(), observer, "SELECT flush_lsn >= pg_current_wal_flush_lsn() FROM pg_stat_replication WHERE application_name = 'db-3'")
		return err == nil && len(has) == 1 && has[0] == "t"
	}, "db-3 has what db-2 has not")
	third.stop()
	first.kill()
	e.serve()
	e.primary().sql("INSERT INTO rows VALUES (3)")
	third = e.start("db-3")
	e.streams("db-3")
	assert.True(t, e.logged("db-3", "the database is of no use any more"))
	third.hasRows("1 3 4")
}

// A last primary that is frozen goes on sending log, which the next one may not have. A standby that
// received it could not say where its own log ends.
func TestLogsAreComparedWhileNothingIsReceived(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	first, _ := e.seedTwo()
	e.join("db-3")
	observer := first.connect()
	e.freeze(first)

	listener, err := net.Listen("tcp", "127.0.0.1:0") // in the place of db-2, and answers nothing
	require.NoError(t, err)
	defer listener.Close()
	require.NoError(t, listener.(*net.TCPListener).SetDeadline(time.Now().Add(testcluster.TestTimeout)))
	e.addresses = map[string]string{"db-2": listener.Addr().String()}
	e.serve()
	conn, err := listener.Accept()
	require.NoError(t, err, "db-3 comes to compare its log")
	defer conn.Close()
	receivers, err := query(t.Context(), observer, "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'")
	require.NoError(t, err)
	assert.Empty(t, receivers)

	e.addresses = nil
	e.update(func(*postgres.PostgresClusterStatus) {})
	e.streams("db-3")
}

// The log that a standby lacks may be gone when it comes back.
func TestStandbyThatCannotCatchUpIsClonedAnew(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	first.sql(createRows)
	e.join("db-2").stop()
	first.alters("wal_keep_size = 0")
	first.alters("max_slot_wal_keep_size = '1MB'")
	for range 2 {
		first.sql("INSERT INTO rows VALUES (2); SELECT pg_switch_wal()")
		first.sql("CHECKPOINT")
	}
	first.alters("max_slot_wal_keep_size = -1") // or the slot may be lost during the copy, too: a segment has 16 MB
	e.start("db-2")
	e.streams("db-2")
	assert.True(t, e.logged("db-2", "the primary has not kept its log"))
}

// An address may have become another's.
func TestMemberClonesOnlyThePrimaryThatIsNamed(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e, other := newEnv(t), newEnv(t)
	other.shareSecrets(e)
	e.seed()
	foreign, err := other.seed().report()
	require.NoError(t, err)
	e.addresses = map[string]string{"db-1": foreign.Address}
	e.update(func(*postgres.PostgresClusterStatus) {})
	second := e.start("db-2")
	e.eventually(func() bool { return e.logged("db-2", foreign.Address+" is the address of") }, "db-2 refuses the address")
	second.awaits("has copied nothing", func(r report) bool { return r.Data == plan.Empty })
	e.addresses = nil
	e.update(func(*postgres.PostgresClusterStatus) {})
	e.streams("db-2")
}

// A person promotes a member that lacks a row, and the disk with that row comes back. It has to be
// kept, and while there is no room for it and for a copy, there is no copy.
func TestWhatWasGivenUpIsKept(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	first := e.seed()
	first.sql(createRows)
	e.join("db-2").stop()
	first.sql("INSERT INTO rows VALUES (2)")
	first.kill()
	e.start("db-2")
	e.beginElection()
	term := e.update(func(s *postgres.PostgresClusterStatus) {
		s.Lost = []postgres.LostData{{Member: "db-1", Term: s.Term}}
	}).Term
	e.promote("db-2", "")

	e.storage = resource.MustParse("1Mi")
	e.publish()
	first = e.start("db-1")
	e.publish()
	first.awaits("has no room", func(r report) bool {
		e.publish()
		return r.Data == plan.Empty && assert.ObjectsAreEqual([]string{plan.KeptFolder(term)}, r.Kept) && r.Trouble != ""
	})
	e.storage = resource.MustParse("1Gi")
	e.publish()
	e.streams("db-1")
	first.hasRows("1")
	assert.FileExists(t, filepath.Join(first.data, plan.KeptFolder(term), "PG_VERSION"))
	assert.False(t, e.logged("db-1", `step="Wipe"`))
}

func isFrozen(r report) bool { return r.Unreachable.Lasts() && r.Unreachable.Cause == "Frozen" }

// The first process of PostgreSQL is frozen, and its others go on, with the session of the agent among
// them. Without a signal that it hears it must stop all the same, or nobody could take over.
func TestAFrozenPostmaster(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.seedTwo()
	conn := first.connect()
	require.NoError(t, syscall.Kill(first.postgreSQL(), syscall.SIGSTOP))
	r := first.awaits("reports it", isFrozen)
	assert.True(t, r.Writable && r.Running, "it is the operator's to decide")
	_, err := query(t.Context(), conn, "INSERT INTO rows VALUES (2)")
	require.NoError(t, err, "old sessions go on")

	e.elect("db-2", "db-1")
	_, err = query(t.Context(), conn, "INSERT INTO rows VALUES (3)")
	require.Error(t, err, "with the Lease, it has given up its sessions")
	assert.Equal(t, []string{"1", "2"}, second.rows())
	e.streams("db-1") // in the same pod
	second.sql("INSERT INTO rows VALUES (4)")

	frozen := first.postgreSQL()
	require.NoError(t, syscall.Kill(frozen, syscall.SIGSTOP))
	e.eventually(func() bool {
		pid := first.findPostgreSQL()
		return pid != 0 && pid != frozen
	}, "a standby starts it again by itself")
	e.streams("db-1")
	first.hasRows("1 2 4")
}

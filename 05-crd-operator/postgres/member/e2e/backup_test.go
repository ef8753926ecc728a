package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// newBackedUp is a cluster with an archive, whose log is archived soon.
func newBackedUp(t testing.TB) *env {
	t.Helper()
	e := newEnv(t)
	e.backup = filepath.Join(e.folder, "backup")
	e.ownFolder(e.backup)
	e.flags = []string{"--backup", e.backup, "--archive-timeout", "1s"}
	return e
}

func (e *env) ownFolder(path string) {
	e.Helper()
	require.NoError(e, os.Mkdir(path, 0o700))
	e.own(path)
}

// backs up a member, as the pod of a backup does. It returns what that printed if it failed.
func (e *env) backUp(from *agent) (failure string) {
	e.Helper()
	trial := filepath.Join(e.folder, "trial")
	e.ownFolder(trial)
	defer os.RemoveAll(trial)
	output, err := e.program("backup", "--backup", e.backup, "--trial", trial, "--member", from.name, "--address", from.address, "--member-uid", string(from.uid), "--keep", "2",
		"--secrets", filepath.Join(e.folder, "secrets"), "--programs", e.programs).CombinedOutput()
	if err != nil {
		return string(output)
	}
	return ""
}

// archived waits until all that was acknowledged by the next full second is in the archive, and
// returns that.
func (a *agent) archived() time.Time {
	a.Helper()
	// luck: it is waited for
	then := time.Now().Truncate(time.Second).Add(time.Second)
	a.awaits("is archived", func(r report) bool { return r.Archive != nil && r.Archive.Until.After(then) })
	return then
}

// restore begins a cluster with what another one has in its archive.
func (e *env) restore(from *env, until *metav1.Time) *agent {
	e.Helper()
	require.NoError(e, os.Rename(from.backup, filepath.Join(e.folder, "source")))
	e.Cleanup(func() { assert.NoError(e, os.Rename(filepath.Join(e.folder, "source"), from.backup)) })
	e.flags = append(e.flags, "--source", filepath.Join(e.folder, "source"))
	first := e.start("db-1")
	e.update(func(s *postgres.PostgresClusterStatus) {
		s.Phase, s.Term, s.Primary, s.Restore = postgres.Recovering, 1, "db-1", &postgres.RestoreFrom{Cluster: "db", Time: until}
	})
	return first
}

func TestRestore(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newBackedUp(t)
	first, second := e.seedTwo()
	before := first.archived()
	require.Empty(t, e.backUp(second), "a standby is copied")
	first.sql("INSERT INTO rows VALUES (2)")
	then := first.archived()
	first.sql("INSERT INTO rows VALUES (3)")
	first.kill()
	e.elect("db-2", "")
	second.sql("INSERT INTO rows VALUES (4)")
	second.archived()
	require.Empty(t, e.backUp(second))
	second.sql("INSERT INTO rows VALUES (5)")
	end := second.archived()
	second.awaits("has told the archive", func(report) bool {
		until, err := archive.Folder(e.backup).Until()
		return err == nil && until.After(end)
	})
	second.stop()

	for _, tc := range []struct {
		name  string
		until *metav1.Time
		want  string // the rows, or what is wrong
	}{
		{"all", nil, "[1 2 3 4 5]"},
		{"until a time on the first timeline", &metav1.Time{Time: then}, "[1 2]"},
		{"until the end", &metav1.Time{Time: end}, "[1 2 3 4 5]"},
		{"until a time before the first backup", &metav1.Time{Time: before}, "the backups go from"},
		{"until a time that is to come", &metav1.Time{Time: time.Now().Add(time.Hour)}, "choose a time between them"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			restored := newBackedUp(t)
			restored.setPassword("app", "another")
			first := restored.restore(e, tc.until)
			if tc.want[0] != '[' {
				first.awaits("says why not", func(r report) bool { return strings.Contains(r.Trouble, tc.want) })
				return
			}
			first.awaits("has restored", func(r report) bool { return r.Restored != nil && r.Running })
			restored.promote("db-1", "")
			assert.Equal(t, tc.want, fmt.Sprint(first.rows()))
			if tc.until == nil {
				first.admits("app", "another")
				first.archived()
				require.Empty(t, restored.backUp(first), "and is backed up")
			}
		})
	}
}

// A copy that cannot be restored is no backup. To restore this one takes the history of its
// timeline, and half of that is lost.
func TestABackupIsRestoredOnTrial(t *testing.T) {
	t.Parallel()
	e := newBackedUp(t)
	first := e.seed()
	first.sql(createRows)
	first.archived()
	require.NoError(t, os.Truncate(filepath.Join(e.backup, "wal", "00000002.history.gz"), 20))
	assert.Contains(t, e.backUp(first), "on trial: PostgreSQL could not apply the log of the archive")
	bases, err := archive.Folder(e.backup).Bases()
	require.NoError(t, err)
	assert.Empty(t, bases)
}

// Nothing is mixed with what another database has archived.
func TestTheArchiveOfAnotherDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	e := newBackedUp(t)
	require.NoError(t, archive.Folder(e.backup).Claim("another"))
	e.own(filepath.Join(e.backup, "system"))
	first := e.seed()
	first.sql(createRows)
	r := first.awaits("says that nothing is archived", func(r report) bool { return r.Archive != nil && r.Archive.Failure != "" })
	assert.Zero(t, r.Archive.Until)
	assert.Contains(t, r.Archive.Failure, "could not be archived: the disk has the backups of database another")
	assert.True(t, e.logged("db-1", "the disk has the backups of database another"))
	assert.Contains(t, e.backUp(first), "the disk has the backups of database another")
}

// A promotion depends on nothing but the member's own disk.
func TestAnArchiveThatCannotBeReadHoldsNoPromotion(t *testing.T) {
	t.Parallel()
	e := newBackedUp(t)
	first, second := e.seedTwo()
	first.archived()
	log, away := filepath.Join(e.backup, "wal"), filepath.Join(e.backup, "away")
	require.NoError(t, os.Rename(log, away))
	require.NoError(t, os.WriteFile(log, nil, 0o600)) // so nothing in it can be read
	first.kill()
	e.elect("db-2", "")
	second.sql("INSERT INTO rows VALUES (2)")
	require.NoError(t, os.Remove(log))
	require.NoError(t, os.Rename(away, log))
	second.archived()
}

// PostgreSQL looks for the timelines in an archive one by one.
func TestARestoreGoesThroughNumbersThatWereLeftOut(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newBackedUp(t)
	first := e.seed()
	first.sql(createRows)
	first.archived()
	require.Empty(t, e.backUp(first))
	first.stop()
	first = e.start("db-1")
	e.electIn(5, "db-1", "")
	first.sql("INSERT INTO rows VALUES (2)")
	first.archived()
	require.Empty(t, e.backUp(first))
	require.NoError(t, os.RemoveAll(filepath.Join(e.backup, "base", e.bases()[1].ID)))
	first.stop()

	restored := newBackedUp(t)
	again := restored.restore(e, nil)
	r := again.awaits("has restored", func(r report) bool { return r.Restored != nil && r.Running })
	assert.Equal(t, plan.TimelineOf(5)+1, r.Timeline, "the next one")
	restored.promote("db-1", "")
	assert.Equal(t, []string{"1", "2"}, again.rows())
}

func (e *env) bases() []archive.Base {
	e.Helper()
	bases, err := archive.Folder(e.backup).Bases()
	require.NoError(e, err)
	return bases
}

// letsGo waits until the member has nothing left that is to be archived.
func (a *agent) letsGo() {
	a.Helper()
	var waiting []string
	a.eventually(func() (none bool) {
		var err error
		waiting, err = filepath.Glob(filepath.Join(a.data, "database", "pg_wal", "archive_status", "*.ready"))
		require.NoError(a, err)
		return len(waiting) == 0
	}, "%s has nothing left to archive", a.name)
}

// The segment in which a timeline has ended is never complete: the next timeline's is that.
func TestNobodyArchivesASegmentThatWasCutOff(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newBackedUp(t)
	first, second := e.seedTwo()
	third := e.join("db-3")
	first.archived()
	first.sql("INSERT INTO rows VALUES (2)")
	first.kill()
	e.elect("db-2", "db-3")
	e.streams("db-3")
	second.sql("INSERT INTO rows VALUES (3)")
	second.archived()
	third.letsGo()

	second.sql("INSERT INTO rows VALUES (4)")
	second.kill()
	e.elect("db-3", "db-1")
	first = e.start("db-1")
	e.streams("db-1")
	third.sql("INSERT INTO rows VALUES (5)")
	third.archived()
	third.letsGo()
	first.letsGo()
}

// A recovery would end before what is missing. Only another base backup helps.
func TestAGapInTheArchive(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newBackedUp(t)
	first := e.seed()
	first.sql(createRows)
	first.archived()
	require.Empty(t, e.backUp(first))
	f := archive.Folder(e.backup)
	first.sql("INSERT INTO rows VALUES (2)")
	first.archived()
	lost, err := f.Last()
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(e.backup, "wal", lost+".gz")))
	first.sql("INSERT INTO rows VALUES (3)")
	r := first.awaits("finds the gap", func(r report) bool { return r.Archive != nil && r.Archive.Failure != "" })
	assert.Contains(t, r.Archive.Failure, "the archive lacks segment "+lost[8:])
	assert.Zero(t, r.Archive.Last, "what was made before it does not count")

	require.Empty(t, e.backUp(first))
	first.archived()
	r = first.awaits("has a base backup", func(r report) bool { return r.Archive != nil && !r.Archive.Last.IsZero() })
	assert.Empty(t, r.Archive.Failure)
}

// Nobody knows how long an archive may have to wait for the next commit, and here there is none.
func TestTheEndOfTheLogIsArchivedWhenTheClusterIsDeleted(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newBackedUp(t)
	e.flags = []string{"--backup", e.backup, "--archive-timeout", "1h"}
	first := e.seed()
	first.sql(createRows)
	require.Empty(t, e.backUp(first))
	first.sql("INSERT INTO rows VALUES (2)")
	e.update(func(s *postgres.PostgresClusterStatus) { s.Phase, s.Primary, s.PrimaryUID = postgres.Deleting, "", "" })
	first.awaits("has stopped", func(r report) bool { return !r.Running })

	restored := newBackedUp(t)
	again := restored.restore(e, nil)
	again.awaits("has restored", func(r report) bool { return r.Restored != nil && r.Running })
	restored.promote("db-1", "")
	assert.Equal(t, []string{"1", "2"}, again.rows())
}

package member

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// newLog is the folder of a database on its fourth timeline: the second ended within segment 5, and
// the third at the end of segment 6.
func newLog(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("pg_wal", 0o700))
	for name, content := range map[string]string{
		"00000003.history": "1\t0/3000000\tno recovery target specified\n2\t0/5800000\tno recovery target specified\n",
		"00000004.history": "1\t0/3000000\tno recovery target specified\n2\t0/5800000\tno recovery target specified\n3\t0/7000000\tno recovery target specified\n",
		"00000005.history": archive.Placeholder,
	} {
		require.NoError(t, os.WriteFile(filepath.Join("pg_wal", name), []byte(content), 0o600))
	}
}

func TestASegmentThatWasCutOff(t *testing.T) {
	newLog(t)
	for name, want := range map[string]bool{
		"000000020000000000000004":                 false, // complete before the timeline ended
		"000000020000000000000005":                 true,
		"000000020000000000000006":                 true, // of a member that has diverged
		"000000030000000000000005":                 false,
		"000000030000000000000006":                 false, // the timeline ended with it
		"000000040000000000000007":                 false,
		"000000020000000000000005.partial":         true,
		"00000004.history":                         false,
		"000000040000000000000007.00000028.backup": false,
	} {
		got, err := wasCutOff(filepath.Join("pg_wal", name))
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
}

func TestNoPlaceholderIsArchived(t *testing.T) {
	newLog(t)
	f := archive.Folder(t.TempDir())
	for name, want := range map[string]error{"00000004.history": nil, "00000005.history": archive.ErrNotThere} {
		path := filepath.Join("pg_wal", name)
		require.NoError(t, archiveFile(t.Context(), f, path))
		assert.ErrorIs(t, f.Check(path, name), want)
	}
}

func TestUpToWhereTheLogIsArchived(t *testing.T) {
	for name, want := range map[string]plan.LSN{
		"000000020000000100000004":                 0x1_0500_0000,
		"0000000200000001000000FF":                 0x2_0000_0000,
		"000000020000000100000004.00000028.backup": 0x1_0500_0000, // it comes after its segment
		"000000020000000100000004.partial":         0,
		"00000003.history":                         0,
		"":                                         0,
	} {
		assert.Equal(t, want, archivedWith(name), name)
	}
}

// The primary may have been cloned from this standby, and have only what came later.
func TestAStandbyArchivesWhatThePrimaryDoesNot(t *testing.T) {
	const segment = "000000040000000000000007"
	newLog(t)
	content := binary.LittleEndian.AppendUint64(make([]byte, 24), 7301)
	require.NoError(t, os.WriteFile(filepath.Join("pg_wal", segment), content, 0o600))
	require.NoError(t, os.WriteFile(standbySignal, nil, 0o600))
	for name, tc := range map[string]struct {
		prepare func(archive.Folder) error
		waits   time.Duration
		err     error
	}{
		"not while the primary may do so": {func(f archive.Folder) error { return nil }, checkFor, nil},
		"the primary has done so":         {func(f archive.Folder) error { return f.Put(filepath.Join("pg_wal", segment), segment) }, 0, nil},
		"the archive has another one":     {func(f archive.Folder) error { return f.Put(standbySignal, segment) }, 0, archive.ErrAnother},
	} {
		t.Run(name, func(t *testing.T) {
			f := archive.Folder(t.TempDir())
			require.NoError(t, tc.prepare(f))
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				require.ErrorIs(t, archiveFile(t.Context(), f, filepath.Join("pg_wal", segment)), tc.err)
				assert.Equal(t, tc.waits, time.Since(begun))
			})
			if tc.err == nil {
				assert.NoError(t, f.Check(filepath.Join("pg_wal", segment), segment))
			}
		})
	}
	another := archive.Folder(t.TempDir())
	require.NoError(t, another.Claim("7302"))
	assert.ErrorContains(t, archiveFile(t.Context(), another, filepath.Join("pg_wal", segment)), "this is database 7301")
}

// Of a segment in which a timeline ended, nothing may be archived: see TestASegmentThatWasCutOff.
func TestWhatWasArchivedOfAnEarlierTimelineIsNotCounted(t *testing.T) {
	t.Parallel()
	testpostgres.Find(t)
	if testpostgres.RanAsNobody(t) {
		return
	}
	s := newDatabase(t, writeSecrets(t))
	archived := func(archive string) plan.LSN {
		s.settings.names, s.settings.mode, s.settings.archive = "", "on", archive
		require.NoError(t, s.start())
		defer s.stopFast(testcluster.TestTimeout) // its statistics stay
		awaitAnswer(t, s, "SELECT pg_promote()", "t")
		awaitAnswer(t, s, "CHECKPOINT; SELECT pg_switch_wal() IS NOT NULL", "t")
		awaitAnswer(t, s, "SELECT count(last_archived_wal) FROM pg_stat_archiver WHERE length(last_archived_wal) = 24", "1") // a segment; histories come before it
		a := &archiver{server: s, timeout: time.Hour}
		defer a.session.close()
		_, err := a.sample(t.Context())
		require.NoError(t, err)
		return a.archived
	}
	assert.Positive(t, archived("true"))
	assert.Zero(t, archived("false"), "only the timeline before was archived")
}

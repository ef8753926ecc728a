package archive

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keep makes a base backup with an empty copy.
func keep(t *testing.T, f Folder, b Base) {
	t.Helper()
	file, err := f.Begin(b.ID)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, f.Keep(b))
}

// keepFrom makes base backups one minute after the other, which need the log from these on.
func keepFrom(t *testing.T, f Folder, segments ...string) {
	t.Helper()
	for i, segment := range segments {
		end := time.Date(2026, 11, 23, 4, i, 0, 0, time.UTC)
		keep(t, f, Base{ID: NewID(end), Segment: segment, End: end})
	}
}

func put(t *testing.T, f Folder, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, f.Put(write(t, name), name))
	}
}

func list(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestTheOldestBackupsGoWithTheirLog(t *testing.T) {
	f := Folder(t.TempDir())
	keepFrom(t, f, "000000010000000000000002", "000000010000000000000004", "000000020000000000000006")
	_, err := f.Begin("20261123T040500.000Z")
	require.NoError(t, err)
	put(t, f, "000000010000000000000003", "000000010000000000000004", "000000010000000000000005.partial", "000000020000000000000005", "00000002.history", "000000010000000000000001.partial", "000000010000000000000002.00000028.backup")
	require.NoError(t, f.Prune(2))
	bases, err := f.Bases()
	require.NoError(t, err)
	require.Len(t, bases, 2)
	assert.Equal(t, "000000010000000000000004", bases[0].Segment)
	assert.Equal(t, []string{"000000010000000000000004.gz", "000000010000000000000005.partial.gz", "00000002.history.gz", "000000020000000000000005.gz"}, list(t, f.wal()))
	assert.Len(t, list(t, f.bases()), 2, "what was not finished goes, too")
	require.NoError(t, f.Check(write(t, "a late standby's"), "000000010000000000000003"), "nobody needs it any more")
	require.ErrorIs(t, f.Check(write(t, "the next one"), "000000020000000000000007"), ErrNotThere)
}

// A restore may take longer than a base backup is kept.
func TestABackupThatIsRemovedDuringARestoreIsNoticed(t *testing.T) {
	f := Folder(t.TempDir())
	keepFrom(t, f, "000000010000000000000002", "000000010000000000000004", "000000010000000000000006")
	bases, err := f.Bases()
	require.NoError(t, err)
	require.NoError(t, f.CheckKept(bases[0].ID))
	require.NoError(t, f.Prune(2))
	require.ErrorContains(t, f.CheckKept(bases[0].ID), "spec.backup.keep")
	require.NoError(t, f.CheckKept(bases[1].ID))
}

// The next base backup of a database that was restored to an earlier time begins earlier in the log.
func TestTheLogOfALaterBackupMayBeginEarlier(t *testing.T) {
	f := Folder(t.TempDir())
	keepFrom(t, f, "000000010000000000000009", "000000020000000000000004")
	put(t, f, "000000020000000000000004", "000000010000000000000009", "000000010000000000000003")
	require.NoError(t, f.Prune(2))
	assert.Equal(t, []string{"000000010000000000000009.gz", "000000020000000000000004.gz"}, list(t, f.wal()))
	put(t, f, "000000020000000000000005")
	assert.Contains(t, list(t, f.wal()), "000000020000000000000005.gz")
}

func TestWhatWasNotFinishedGoesBeforeTheFirstBackup(t *testing.T) {
	f := Folder(t.TempDir())
	put(t, f, "000000010000000000000003")
	_, err := f.Begin("20261123T040500.000Z")
	require.NoError(t, err)
	for name, age := range map[string]time.Duration{".new-1": 2 * abandonedAfter, ".new-2": 0} {
		path := filepath.Join(f.wal(), name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
	}
	require.NoError(t, f.Prune(2))
	assert.Empty(t, list(t, f.bases()))
	assert.Equal(t, []string{".new-2", "000000010000000000000003.gz"}, list(t, f.wal()), "somebody may be writing one")
}

func TestABackupWithoutItsCopyDoesNotCount(t *testing.T) {
	f := Folder(t.TempDir())
	id := NewID(time.Now())
	require.ErrorContains(t, f.Keep(Base{ID: id}), "the copy of base backup "+id)
	file, err := f.Begin(id)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.ErrorContains(t, f.Keep(Base{ID: id, Bytes: 1}), "is not what was restored on trial")
	bases, err := f.Bases()
	require.NoError(t, err)
	assert.Empty(t, bases)
}

func TestWhatComesBeforeAGapDoesNotCount(t *testing.T) {
	const first, second = "0000000100000000000000FD", "000000020000000100000001"
	for name, tc := range map[string]struct {
		log  []string
		want []string // the first segments of the base backups that count
		gap  string
	}{
		"no log at all":             {nil, []string{first, second}, ""},
		"all of the log":            {[]string{first, "0000000100000000000000FE", "0000000200000000000000FE", "0000000200000000000000FF", "000000020000000100000000", second}, []string{first, second}, ""},
		"one that is missing":       {[]string{first, "0000000200000000000000FE", "000000020000000100000000", second}, []string{second}, "00000000000000FF"},
		"the first":                 {[]string{"0000000100000000000000FE", "0000000100000000000000FF", "000000020000000100000000", second}, []string{second}, "00000000000000FD"},
		"the last of several":       {[]string{first, "0000000100000000000000FF", second}, []string{second}, "0000000100000000"},
		"one after the last backup": {[]string{first, "0000000100000000000000FE", "0000000100000000000000FF", "000000020000000100000000", second, "000000020000000100000003"}, nil, "0000000100000002"},
		"one before all of them":    {[]string{"000000010000000000000001", first}, []string{first, second}, ""},
		"a part is not all":         {[]string{first, "0000000100000000000000FE.partial", "0000000200000000000000FF", "000000020000000100000000"}, []string{second}, "00000000000000FE"},
	} {
		t.Run(name, func(t *testing.T) {
			f := Folder(t.TempDir())
			keepFrom(t, f, first, second)
			put(t, f, tc.log...)
			bases, gap, err := f.Unbroken()
			require.NoError(t, err)
			var got []string
			for _, b := range bases {
				got = append(got, b.Segment)
			}
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.gap, gap)

			require.NoError(t, f.SetUntil(time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)))
			chosen, err := f.Choose(time.Date(2026, 11, 23, 4, 30, 0, 0, time.UTC))
			if tc.want == nil {
				require.ErrorContains(t, err, "the archive lacks segment "+tc.gap)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, second, chosen.Segment)
			_, err = f.Choose(time.Date(2026, 11, 23, 4, 0, 30, 0, time.UTC))
			assert.Equal(t, len(tc.want) == 2, err == nil, "a time before the gap: %v", err)
		})
	}
}

// PostgreSQL looks for histories one by one, and would end at the first that is not there.
func TestAHistoryThatWasLeftOutIsMadeUp(t *testing.T) {
	f := Folder(t.TempDir())
	content := filepath.Join(t.TempDir(), "content")
	require.NoError(t, os.WriteFile(content, []byte("1\t0/3000000\tx\n"), 0o600))
	require.NoError(t, f.Put(content, "0000000A.history"))
	for name, want := range map[string]string{
		"00000009.history":         Placeholder,
		"0000000A.history":         "1\t0/3000000\tx\n",
		"0000000B.history":         "", // the next one is free
		"000000090000000000000001": "",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := f.Get(name, "", path); want == "" {
			assert.ErrorIs(t, err, ErrNotThere, name)
			continue
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err, name)
		assert.Equal(t, want, string(got), name)
	}
}

package archive

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestAFileOfTheLogIsKeptOnce(t *testing.T) {
	f := Folder(t.TempDir())
	require.NoError(t, f.Put(write(t, "log"), "00000002.history"))
	require.NoError(t, f.Put(write(t, "log"), "00000002.history"), "another member has put the same")
	require.ErrorIs(t, f.Put(write(t, "another"), "00000002.history"), ErrAnother)

	path := filepath.Join(t.TempDir(), "got")
	require.NoError(t, f.Get("00000002.history", "", path))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "log", string(got))
	require.ErrorIs(t, f.Get("00000003.history", "", path), ErrNotThere)
}

func TestSegmentsAfterTheLastAreNotWanted(t *testing.T) {
	f := Folder(t.TempDir())
	last, err := f.Last()
	require.NoError(t, err)
	assert.Empty(t, last)
	for _, name := range []string{"000000010000000000000009", "00000002000000000000000A", "00000003.history"} {
		require.NoError(t, f.Put(write(t, name), name))
	}
	last, err = f.Last()
	require.NoError(t, err)
	assert.Equal(t, "00000002000000000000000A", last)
	require.NoError(t, f.Put(write(t, "later"), "00000002000000000000000B"))
	path := filepath.Join(t.TempDir(), "got")
	require.ErrorIs(t, f.Get("00000002000000000000000B", last, path), ErrNotThere)
	for _, name := range []string{last, "000000010000000000000009", "00000003.history"} {
		require.NoError(t, f.Get(name, last, path))
	}
}

func TestTheDiskIsThatOfOneDatabase(t *testing.T) {
	f := Folder(t.TempDir())
	require.NoError(t, f.Claim("7301"))
	require.NoError(t, f.Claim("7301"))
	require.ErrorContains(t, f.Claim("7302"), "the backups of database 7301, and this is database 7302")
}

// The clock was two years ahead when a base backup was made. The next one is the newest all the same.
func TestABaseBackupIsNewerThanOneFromTheFuture(t *testing.T) {
	f, now := Folder(t.TempDir()), time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, clock := range []time.Time{now, now.AddDate(2, 0, 0), now.Add(time.Hour), now.Add(2 * time.Hour)} {
		id, err := f.NextID(clock)
		require.NoError(t, err)
		keep(t, f, Base{ID: id, Segment: "000000010000000000000002", End: clock})
	}
	require.NoError(t, f.Prune(1))
	newest, err := f.Choose(time.Time{})
	require.NoError(t, err)
	assert.True(t, newest.End.Equal(now.Add(2*time.Hour)), "it is of %s", newest.End)
}

func TestTheBaseBackupForATime(t *testing.T) {
	f := Folder(t.TempDir())
	_, err := f.Choose(time.Time{})
	require.ErrorContains(t, err, "there is no base backup")
	at := func(minute int) time.Time { return time.Date(2026, 11, 23, 4, minute, 0, 0, time.UTC) }
	for _, minute := range []int{10, 20, 30} {
		keep(t, f, Base{ID: NewID(at(minute)), Segment: "000000010000000000000002", End: at(minute + 1)})
	}
	require.NoError(t, f.SetUntil(at(30)))
	require.NoError(t, f.SetUntil(at(40)))
	for name, tc := range map[string]struct {
		until time.Time
		want  string // its minute, or the error
	}{
		"all":                          {time.Time{}, NewID(at(30))},
		"the end":                      {at(40), NewID(at(30))},
		"after the second":             {at(30), NewID(at(20))},
		"when the first was complete":  {at(11), NewID(at(10))},
		"before the first was":         {at(10), "the backups go from 2026-11-23T04:11:00Z to 2026-11-23T04:40:00Z, and 2026-11-23T04:10:00Z is wanted"},
		"later than the archive knows": {at(41), "2026-11-23T04:41:00Z is wanted; choose a time between them"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := f.Choose(tc.until)
			if err != nil {
				require.ErrorContains(t, err, tc.want)
				return
			}
			assert.Equal(t, tc.want, b.ID)
		})
	}
}

// A folder can be opened and not read, like a file on a disk that fails.
func TestWhatWasCutOffHasNoName(t *testing.T) {
	const segment = "000000010000000000000007"
	f := Folder(t.TempDir())
	require.Error(t, f.Put(t.TempDir(), segment))
	path := filepath.Join(t.TempDir(), "got")
	require.ErrorIs(t, f.Get(segment, "", path), ErrNotThere)
	require.NoError(t, f.Put(write(t, "all of it"), segment))
	require.NoError(t, f.Get(segment, "", path))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "all of it", string(got))
}

package member

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func TestCopyThatWasNotCompletedIsNoDatabase(t *testing.T) {
	files := layout(t.TempDir())
	require.NoError(t, os.Mkdir(files.partial(), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(files.partial(), "PG_VERSION"), []byte("15\n"), 0o600))
	assert.False(t, files.complete())
	require.NoError(t, files.keep())
	assert.True(t, files.complete())
	require.NoError(t, os.MkdirAll(filepath.Join(files.partial(), "pg_wal"), 0o700)) // a copy that was cut off
	require.NoError(t, files.wipe())
	assert.False(t, files.complete())

	require.NoError(t, os.Mkdir(files.partial(), 0o700))
	require.NoError(t, os.Mkdir(string(files.restoring()), 0o700))
	require.NoError(t, files.clean())
	entries, err := os.ReadDir(string(files))
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestWhatWasSetAsideStays(t *testing.T) {
	files := layout(t.TempDir())
	require.NoError(t, os.Mkdir(files.database(), 0o700))
	for _, name := range []string{"PG_VERSION", standbySignal, "postmaster.pid"} {
		require.NoError(t, os.WriteFile(filepath.Join(files.database(), name), []byte("15\n"), 0o600))
	}
	require.NoError(t, files.setAside(plan.KeptFolder(7)))
	assert.False(t, files.complete())
	require.NoError(t, files.clean())
	folders, err := files.aside()
	require.NoError(t, err)
	assert.Equal(t, []string{"database.diverged-term-7"}, folders)
	entries, err := os.ReadDir(filepath.Join(string(files), folders[0]))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, "PG_VERSION", entries[0].Name(), "no signal of a standby, and no lock")

	with, err := files.room(1 << 30)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(string(files), folders[0], "file"), make([]byte, 1<<20), 0o600))
	without, err := files.room(1 << 30)
	require.NoError(t, err)
	assert.EqualValues(t, 1<<20, with-without, "what it takes of the disk")
}

func TestTheDiskIsMeasuredOftenWhenLittleIsLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		room       int64 // bytes
		took, want time.Duration
	}{
		"much room":                   {1 << 40, time.Millisecond, 5 * time.Second},
		"much room, and many files":   {1 << 40, time.Second, 20 * time.Second},
		"a gigabyte":                  {1 << 30, time.Millisecond, 4 * time.Second},
		"little room":                 {1 << 20, time.Millisecond, 250 * time.Millisecond},
		"little room, a busy machine": {1 << 20, 300 * time.Millisecond, time.Second},
		"nearly full":                 {-1, 300 * time.Millisecond, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := &space{}
			s.left.Store(tc.room)
			assert.Equal(t, tc.want, s.pause(tc.took))
		})
	}
}

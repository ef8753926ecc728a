package filelock

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestLockWaitsForTheLastHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Lock(t.Context(), path)
	require.NoError(t, err)
	// A child inherits the lock, as the components of the lab do.
	child := exec.Command("cat")
	child.ExtraFiles = []*os.File{held}
	stdin, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	require.NoError(t, held.Close())

	ctx, cancel := context.WithTimeout(t.Context(), 3*pollInterval)
	defer cancel()
	_, err = Lock(ctx, path)
	require.ErrorIs(t, err, context.DeadlineExceeded, "the child still has it")

	require.NoError(t, stdin.Close())
	require.NoError(t, child.Wait())
	free, err := Lock(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, free.Close())
}

// lab reset deletes its own lock. Who has waited for that one must not be at work beside who
// comes later and makes another.
func TestALockWhoseFileIsDeletedLocksNobodyOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Lock(t.Context(), path)
	require.NoError(t, err)
	waited := false
	got, err := lock(t.Context(), path, func(fd, how int) error {
		if !waited { // it has opened the file
			waited = true
			require.NoError(t, os.Remove(path))
			require.NoError(t, held.Close())
		}
		return unix.Flock(fd, how)
	})
	require.NoError(t, err)
	defer got.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 3*pollInterval)
	defer cancel()
	_, err = Lock(ctx, path)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestALockInAFolderThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	require.NoError(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "lock")
	_, err := lock(t.Context(), path, func(fd, how int) error {
		_ = os.RemoveAll(dir)
		return unix.Flock(fd, how)
	})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestWhereThereAreNoLocksTheErrorSaysSoAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for _, refused := range []error{unix.ENOLCK, unix.EOPNOTSUPP} {
		tries := 0
		_, err := lock(t.Context(), path, func(int, int) error { tries++; return refused })
		require.ErrorIs(t, err, refused)
		require.ErrorContains(t, err, "choose a folder on another one")
		assert.Equal(t, 1, tries)
	}
	tries := 0
	got, err := lock(t.Context(), path, func(int, int) error {
		if tries++; tries < 3 {
			return unix.EINTR
		}
		return nil
	})
	require.NoError(t, err, "an interrupted call is tried again")
	require.NoError(t, got.Close())
}

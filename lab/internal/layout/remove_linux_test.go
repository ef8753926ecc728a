package layout

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestRemoveDeletesNothingWhileSomethingIsMounted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount") //nolint:forbidigo // the kernel refuses a mount namespace to others
	}
	l := newFolder(t, nil)
	require.NoError(t, l.Create())
	// Only this thread sees the mount, and takes it along when it ends with the test.
	runtime.LockOSThread()
	require.NoError(t, unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS))
	require.NoError(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	require.NoError(t, unix.Mount("tmpfs", l.Images(), "tmpfs", 0, ""))
	file := filepath.Join(l.Images(), "precious")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := l.Remove(nil)
	require.ErrorContains(t, err, "umount")
	assert.FileExists(t, file)
	assert.DirExists(t, l.Join("pki"))
	require.NoError(t, unix.Unmount(l.Images(), 0)) // for t.TempDir, which another thread removes
}

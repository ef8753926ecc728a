package provisioner

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestNoFolderIsDeletedInWhichSomethingIsMounted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount") //nolint:forbidigo // the kernel refuses a mount namespace to others
	}
	dir := t.TempDir()
	folder := makeFolder(t, dir, "default-data-1234/mnt")
	// Only this thread sees the mount, and takes it along when it ends with the test.
	runtime.LockOSThread()
	require.NoError(t, unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS))
	require.NoError(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	require.NoError(t, unix.Mount("tmpfs", folder, "tmpfs", 0, ""))
	require.ErrorContains(t, folders{dir}.remove(newReleased(dir)), "umount")
	assert.DirExists(t, filepath.Join(dir, "default-data-1234"))
	require.NoError(t, unix.Unmount(folder, 0)) // for t.TempDir, which another thread removes
}

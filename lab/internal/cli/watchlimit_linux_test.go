package cli

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestAWatchThatTheSystemAllowsIsNoWarning(t *testing.T) {
	if err := watch(t.TempDir()); !errors.Is(err, unix.EMFILE) { // the labs that run now may have all that there are
		require.NoError(t, err)
	}
	assert.Empty(t, watchWarning(nil))
}

// Open files have a limit of their own, which has the same error. To lower that of inotify would
// disturb others on this machine.
func TestAWatchThatTheSystemRefusesIsAWarning(t *testing.T) {
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	var taken []int
	t.Cleanup(func() {
		for _, instance := range taken {
			assert.NoError(t, unix.Close(instance))
		}
		assert.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before))
	})
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: min(64, before.Cur), Max: before.Max}))
	for {
		null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			require.ErrorIs(t, err, unix.EMFILE)
			break
		}
		taken = append(taken, null)
	}
	sentences := watchLimit("/")
	assert.Equal(t, []string{`warning: you can watch no more files, and programs that do may fail with "too many open files"; to raise the limit: sudo sysctl fs.inotify.max_user_instances=1024`}, sentences)
}

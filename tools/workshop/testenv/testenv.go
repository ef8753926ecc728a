// Package testenv is what tests share.
package testenv

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Timeout is how long a test waits for what it waits for: TEST_TIMEOUT, or two minutes.
func Timeout() time.Duration {
	timeout, err := time.ParseDuration(cmp.Or(os.Getenv("TEST_TIMEOUT"), "2m"))
	if err != nil {
		panic("reading TEST_TIMEOUT: " + err.Error())
	}
	return timeout
}

// RequireGone waits until the processes have ended whose ids are in a file. A zombie has, and only
// nobody has asked how.
func RequireGone(t testing.TB, file string) {
	t.Helper()
	ids, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotEmpty(t, strings.Fields(string(ids)), "%s names no process", file)
	for id := range strings.FieldsSeq(string(ids)) {
		pid, err := strconv.Atoi(id)
		require.NoError(t, err)
		gone := func() bool {
			stat, err := os.ReadFile(filepath.Join("/proc", id, "stat"))
			return syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ")
		}
		require.Eventually(t, gone, Timeout(), 10*time.Millisecond, "process %d is still there", pid)
	}
}

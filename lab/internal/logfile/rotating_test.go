package logfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/testenv"
)

func TestALargeLogIsSetAsideWhileItIsWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "etcd.log")
	log := Rotating(path)
	defer log.Close()
	line := append(bytes.Repeat([]byte("x"), 1<<20-1), '\n')
	for range 3*maxSize + 1 {
		_, err := log.Write(line)
		require.NoError(t, err)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(maxSize<<20))
	}
	assert.Eventually(t, func() bool { // by another goroutine
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 1+maxOld
	}, testenv.Timeout(), 10*time.Millisecond, "the oldest are deleted")
}

func TestALogGoesOnWhereItEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "etcd.log")
	for _, line := range []string{"one\n", "two\n"} {
		log := Rotating(path)
		_, err := log.Write([]byte(line))
		require.NoError(t, err)
		require.NoError(t, log.Close())
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\n", string(data))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestALogThatCannotBeWrittenIsNoFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	n, err := Rotating(filepath.Join(file, "etcd.log")).Write([]byte("lost"))
	require.NoError(t, err)
	assert.Equal(t, 4, n)
}

package logfile

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFollowingALogGoesOnWhenItIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	write := func(line string) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(line + "\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	ctx, cancel := context.WithCancel(t.Context())
	read, out := io.Pipe()
	done := make(chan error, 1)
	lines := bufio.NewScanner(read)
	expect := func(line string) {
		t.Helper()
		require.True(t, lines.Scan())
		assert.Equal(t, line, lines.Text())
	}
	write("one")
	go func() {
		err := Print(ctx, out, path, true)
		_ = out.Close()
		done <- err
	}()
	expect("one")
	write("two")
	require.NoError(t, os.Rename(path, path+".old"))
	write("three")
	expect("two")
	expect("three")
	write("four")
	expect("four")
	cancel()
	require.NoError(t, <-done)
}

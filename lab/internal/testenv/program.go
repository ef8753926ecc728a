package testenv

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// CopyProgram copies a program, for a test that wants it elsewhere.
func CopyProgram(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	require.NoError(t, err)
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(target, source)
	require.NoError(t, err)
	require.NoError(t, target.Close())
}

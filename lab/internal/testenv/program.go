package testenv

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// CopyProgram copies a program, for a test that wants it elsewhere.
func CopyProgram(t *testing.T, from, to string) {
	t.Helper()
	program, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, program, 0o755))
}

package testenv

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Damages are what a power cut or a full disk makes of a file's content, by a name
// that completes a sentence.
var Damages = map[string]func(content []byte) []byte{
	"is empty":         func([]byte) []byte { return nil },
	"is cut off":       func(content []byte) []byte { return content[:len(content)/2] },
	"holds only zeros": func(content []byte) []byte { return bytes.Repeat([]byte{0}, len(content)) },
}

// Damage damages a file that exists.
func Damage(t *testing.T, path string, damage func([]byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotEmpty(t, content, path)
	require.NoError(t, os.WriteFile(path, damage(content), 0o600))
}

// OnFullDisk runs test in a process of its own, in which no file can grow any more after
// the call of fill. It is called by a test function, and is all that this one does.
func OnFullDisk(t *testing.T, test func(fill func())) {
	t.Helper()
	const child = "TEST_FULL_DISK"
	if os.Getenv(child) != "" {
		test(func() {
			var limit syscall.Rlimit
			require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
			limit.Cur = 0
			require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
		})
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
}

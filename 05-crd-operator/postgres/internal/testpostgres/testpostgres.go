// Package testpostgres finds the PostgreSQL that tests run, and a user that may run it.
package testpostgres

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/image"
)

// Find returns the PostgreSQL in PG_HOME, or else the one on this machine. make sets PG_HOME
// to that of the npm package where there is no other, and says what is left out where even
// that cannot be had. With CI set, that is a failure.
func Find(t testing.TB) image.PostgreSQL {
	t.Helper()
	// Go's test cache sees the variables that a test reads, but not the programs that it
	// starts: this one holds their hash.
	_ = os.Getenv("TEST_INPUTS")
	found, err := image.Installed(t.Context())
	if leftOut(err) {
		t.Skipf("%v; run `make test-5-postgres` at the root of the repository", err)
	}
	require.NoError(t, err)
	return found
}

func leftOut(err error) bool { return errors.Is(err, image.ErrNotInstalled) && os.Getenv("CI") == "" }

// RanAsNobody runs a test of root's in another process, and reports whether it did: PostgreSQL does not run
// as root.
func RanAsNobody(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	require.Equal(t, "linux", runtime.GOOS, "PostgreSQL does not run as root: run this test as another user")
	folder, err := os.MkdirTemp("", "test-") //nolint:usetesting // t.TempDir is closed to other users
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(folder)) })
	const nobody = 65534
	require.NoError(t, os.Chown(folder, nobody, nobody))
	command := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	command.Dir, command.Env = folder, append(os.Environ(), "TMPDIR="+folder)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS: "+t.Name())
	return true
}

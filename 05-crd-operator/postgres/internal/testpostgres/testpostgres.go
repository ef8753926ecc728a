// Package testpostgres finds the PostgreSQL that tests run.
package testpostgres

import (
	"errors"
	"os"
	"testing"

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

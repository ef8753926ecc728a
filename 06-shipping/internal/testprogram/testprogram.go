// Package testprogram gives tests the programs that test-env.sh has built, so that no test compiles.
package testprogram

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

// sources are the folders that the programs are built from, and the target that builds them. TEST_INPUTS
// holds the hash of each folder of another module that a file names, as here.
var sources = map[string]struct{ folder, target string }{
	"KUSTOMIZE":      {"../../../tools/pinned/kustomize", "make test-6"},
	"HELM":           {"../../../tools/pinned/helm", "make test-heavy"},
	"KWOK":           {"../../../tools/pinned/kwok", "make test-heavy"},
	"OPM":            {"../../../tools/pinned/olm", "make test-heavy"},
	"SHIPPING_TOOLS": {"../../tools", "make test-heavy"},
}

// Path returns the path of a program, by its variable: HELM, KUSTOMIZE, KWOK, OPM, or SHIPPING_TOOLS for the
// folder of those in ../../tools.
func Path(t testing.TB, variable string) string {
	t.Helper()
	testcluster.DependOnInputs()
	path := os.Getenv(variable)
	require.NotEmpty(t, path, "%s is not set: run `%s` at the root of the repository, which builds the program", variable, sources[variable].target)
	return path
}

// Output returns what a program prints. If it fails, the error is what it complains of.
func Output(command *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	command.Stderr = &stderr
	printed, err := command.Output()
	if err != nil {
		return nil, errors.New(stderr.String())
	}
	return printed, nil
}

// ReadBySomebodyElse names what a program reads that a test runs. go test answers from its cache if
// nothing has changed that the test itself has looked at.
func ReadBySomebodyElse(t testing.TB, paths ...string) {
	t.Helper()
	for _, path := range paths {
		require.NoError(t, filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				_, err = os.ReadFile(path)
			}
			return err
		}))
	}
}

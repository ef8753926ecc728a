// Package opm tests the catalogue with the program that serves it.
package opm

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

const catalog = "../../../packaging/catalog"

// validate runs opm, the program of OLM that serves and checks catalogues. test-env.sh builds it, in the version
// of this module; TEST_INPUTS holds the hash of what a file names.
func validate(t *testing.T, folder string) (string, error) {
	t.Helper()
	testcluster.DependOnInputs()
	opm := os.Getenv("OPM")
	require.NotEmpty(t, opm, "OPM is not set: run `make test-heavy` at the root of the repository, which builds opm as %s names it", "../../../../tools/pinned/olm")
	output, err := exec.CommandContext(t.Context(), opm, "validate", folder).CombinedOutput()
	return string(output), err
}

func TestOPMTakesTheCatalogue(t *testing.T) {
	catalogue, err := os.ReadFile(filepath.Join(catalog, "cnat/catalog.yaml"))
	require.NoError(t, err)
	header, _, _ := strings.Cut(string(catalogue), "\n")
	header += "\n"
	output, err := validate(t, catalog)
	require.NoError(t, err, output)
	for name, tc := range map[string]struct{ old, new, output string }{
		"a document that has comments only": {header, header + "---\n", "missing root schema field"},
		"a version that nothing replaces":   {"  replaces: cnat.v0.6.0\n", "", "multiple channel heads found in graph: cnat.v0.6.0, cnat.v0.6.1"},
		"a bundle without an entry":         {"- name: cnat.v0.6.0\n", "- name: cnat.v0.5.0\n", "not found in any channel entries"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			broken := bytes.Replace(catalogue, []byte(tc.old), []byte(tc.new), 1)
			require.NotEqual(t, catalogue, broken)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "catalog.yaml"), broken, 0o600))
			output, err := validate(t, dir)
			require.Error(t, err)
			assert.Contains(t, output, tc.output)
		})
	}
}

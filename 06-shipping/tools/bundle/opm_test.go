package bundle

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/tools/internal/testcluster"
)

// opmValidate runs opm, the program of OLM that serves and checks catalogues.
func opmValidate(t *testing.T, folder string) (string, error) {
	t.Helper()
	testcluster.DependOnInputs() // tools/pinned/olm is another module
	folder, err := filepath.Abs(folder)
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "go", "run", "-tags=containers_image_openpgp", "github.com/operator-framework/operator-registry/cmd/opm", "validate", folder)
	command.Dir = "../../../tools/pinned/olm"
	command.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0") // or it needs the C libraries of registries
	output, err := command.CombinedOutput()
	return string(output), err
}

func TestOPMTakesTheCatalogue(t *testing.T) {
	output, err := opmValidate(t, filepath.Join(packaging, "catalog"))
	require.NoError(t, err, output)
	catalogue, err := os.ReadFile(filepath.Join(packaging, "catalog/cnat/catalog.yaml"))
	require.NoError(t, err)
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
			output, err := opmValidate(t, dir)
			require.Error(t, err)
			assert.Contains(t, output, tc.output)
		})
	}
}

// Package catalog tests the catalogue with the program that serves it.
package catalog

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
)

// opm runs the program of OLM that makes, checks and serves catalogues.
func opm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	output, err := testprogram.Output(exec.CommandContext(t.Context(), testprogram.Path(t, "OPM"), args...))
	return string(output), err
}

func TestOPMTakesTheCatalogue(t *testing.T) {
	testprogram.ReadBySomebodyElse(t, "../bundle")
	bundles, err := opm(t, "render", "../bundle/v0.6.0", "../bundle/v0.6.1", "--output=yaml")
	require.NoError(t, err)
	channel, err := os.ReadFile("cnat.yaml")
	require.NoError(t, err)
	for sentence, tc := range map[string]struct{ old, new, complaint string }{
		"as it is":                        {"", "", ""},
		"a version that nothing replaces": {"  replaces: cnat.v0.6.0\n", "", "multiple channel heads found in graph: cnat.v0.6.0, cnat.v0.6.1"},
		"a bundle without an entry":       {"- name: cnat.v0.6.0\n", "- name: cnat.v0.5.0\n", "not found in any channel entries"},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			changed := strings.Replace(string(channel), tc.old, tc.new, 1)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "cnat.yaml"), []byte(changed), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "bundles.yaml"), []byte(bundles), 0o600))
			_, err := opm(t, "validate", dir)
			if tc.complaint == "" {
				require.NoError(t, err)
				return
			}
			require.NotEqual(t, string(channel), changed)
			assert.ErrorContains(t, err, tc.complaint)
		})
	}
}

// Package catalog tests the catalogue with the program that serves it.
package catalog

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
)

// The bundles are in a file beside the channel, as a catalogue has them.
func TestOPMTakesTheCatalogue(t *testing.T) {
	testprogram.ReadBySomebodyElse(t, "../bundle")
	opm := testprogram.Path(t, "OPM")
	bundles, err := testprogram.Output(exec.CommandContext(t.Context(), opm, "render", "../bundle/v0.6.0", "../bundle/v0.6.1", "--output=yaml"))
	require.NoError(t, err)
	channel, err := os.ReadFile("cnat.yaml")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cnat.yaml"), channel, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bundles.yaml"), bundles, 0o600))
	_, err = testprogram.Output(exec.CommandContext(t.Context(), opm, "validate", dir))
	require.NoError(t, err)
}

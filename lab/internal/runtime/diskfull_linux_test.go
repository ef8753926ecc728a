package runtime

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// fillDisk lets the shim record nothing. Only what is written leads to /dev/full: to
// read from there would have no end.
func fillDisk(w *world, id string) {
	w.Helper()
	for _, name := range []string{shim.StartedFile, shim.ExitFile} {
		require.NoError(w, os.Symlink("/dev/full", filepath.Join(w.containers[id].dir, name+".new")))
	}
}

func TestExitCodeOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	pod := w.pod("full")
	for name, tc := range map[string]struct {
		script, reason string
		code           int32
	}{
		"success":                          {"exit 0", "Completed", 0},
		"what the program returns":         {"exit 42", "Error", 42},
		"128 more than the killing signal": {"kill -9 $$", "Error", 137},
	} {
		t.Run(name, func(t *testing.T) {
			id := w.create(pod, tc.script)
			fillDisk(w, id)
			require.NoError(t, w.StartContainer(t.Context(), id))
			st := w.exited(id)
			assert.Equal(t, tc.code, st.ExitCode)
			assert.Equal(t, tc.reason, st.Reason)
			assert.NotZero(t, st.StartedAt)

			complaints := filepath.Join(w.containers[id].dir, "shim.log")
			said, err := os.ReadFile(complaints)
			require.NoError(t, err)
			assert.Contains(t, string(said), "recording the start: ")
			assert.Contains(t, string(said), "recording the exit code: ")
			require.NoError(t, os.Truncate(complaints, 0))
		})
	}
}

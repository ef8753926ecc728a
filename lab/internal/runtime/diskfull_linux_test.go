package runtime

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/shim"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

func TestExitCodeOnAFullDisk(t *testing.T) {
	testenv.OnFullDisk(t, func(fill func()) {
		w := newWorld(t)
		pod := w.pod("pod")
		endings := map[string]struct {
			script, reason string
			code           int32
		}{
			"success":                          {"exit 0", "Completed", 0},
			"what the program returns":         {"exit 42", "Error", 42},
			"128 more than the killing signal": {"kill -9 $$", "Error", 137},
		}
		ids := map[string]string{}
		for name, tc := range endings {
			ids[name] = w.create(pod, tc.script)
		}
		fill() // the shims, too: they inherit it
		for name, tc := range endings {
			t.Run(name, func(t *testing.T) {
				id := ids[name]
				require.NoError(t, w.StartContainer(t.Context(), id))
				st := w.exited(id)
				assert.Equal(t, tc.code, st.ExitCode)
				assert.Equal(t, tc.reason, st.Reason)
				assert.NotZero(t, st.StartedAt)
				for _, record := range []string{shim.StartedFile, shim.ExitFile} {
					assert.NoFileExists(t, filepath.Join(w.containers[id].dir, record))
				}
			})
		}
	})
}

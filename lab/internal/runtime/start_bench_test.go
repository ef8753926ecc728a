package runtime

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkStartContainer measures from StartContainer to the running process.
func BenchmarkStartContainer(b *testing.B) {
	w := newWorld(b)
	pod := w.pod("bench")
	for b.Loop() {
		b.StopTimer()
		id := w.create(pod, idle)
		b.StartTimer()
		err := w.StartContainer(b.Context(), id)
		b.StopTimer()
		require.NoError(b, err)
		require.NoError(b, w.RemoveContainer(b.Context(), id))
		b.StartTimer()
	}
}

// BenchmarkExecSync measures a probe that runs a command.
func BenchmarkExecSync(b *testing.B) {
	w := newWorld(b)
	id := w.run(w.pod("bench"), idle)
	for b.Loop() {
		_, _, err := w.ExecSync(b.Context(), id, []string{"true"}, testTimeout)
		require.NoError(b, err)
	}
}

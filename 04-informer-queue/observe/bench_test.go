package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

// BenchmarkOnce compares a whole run of observe, from its start over the
// list to the last child, with a loop that does nothing but start the same
// children. Both write to a file, so neither needs a goroutine to copy.
//
// They take turns, and the ratio is the median of those of the rounds: on a
// machine that does something else as well, one round alone says little.
func BenchmarkOnce(b *testing.B) {
	const objects, rounds = 3000, 9
	n := newNamespace(b, testcluster.Start(b))
	for i := range objects {
		n.create(b, fmt.Sprintf("object-%d", i))
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(b, err)
	defer null.Close()

	var bare, observed, ratios []float64
	for b.Loop() {
		for range rounds {
			loop := timed(func() { bareLoop(b, null, objects) })
			sync := timed(func() {
				code := run(func() (stop, kill context.Context) { return b.Context(), b.Context() }, n.args("configmaps", "--once", "--", "true"), null, null)
				require.Equal(b, 0, code)
			})
			bare = append(bare, objects/loop.Seconds())
			observed = append(observed, objects/sync.Seconds())
			ratios = append(ratios, loop.Seconds()/sync.Seconds())
		}
	}

	fmt.Printf("\n%-24s %12s %8s\n", fmt.Sprint(objects, " objects, -- true"), "objects/s", "ratio")
	fmt.Printf("%-24s %12.0f %8.2f\n", "a bare loop", median(bare), 1.0)
	fmt.Printf("%-24s %12.0f %8.2f\n\n", "observe --once", median(observed), median(ratios))
	b.ReportMetric(median(observed), "objects/s")
	b.ReportMetric(median(ratios), "of-bare-loop")
	b.ReportMetric(0, "ns/op")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func timed(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

func bareLoop(b *testing.B, null *os.File, objects int) {
	path, err := exec.LookPath("true")
	require.NoError(b, err)
	for i := range objects {
		command := exec.Command(path, "namespace", fmt.Sprintf("object-%d", i))
		command.Stdout, command.Stderr = null, null
		require.NoError(b, command.Run())
	}
}

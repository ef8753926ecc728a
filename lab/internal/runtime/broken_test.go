package runtime

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"example.com/hacking-a-controller/lab/internal/shim"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// damaged is a runtime that was started over a broken file of one of its two pods.
type damaged struct {
	*world
	pod, id string // the pod and the container that the file belongs to
	dir     string // the directory of that container
	file    string // the broken file
	other   string // a container of the other pod
}

// brokenRecords are what a new kubelet may meet while containers run: the broken file,
// below the runtime's directory, whether it is set aside, and what is expected of the
// container that it belongs to.
var brokenRecords = map[string]struct {
	file   func(d *damaged) string
	aside  bool
	expect func(d *damaged)
}{
	"the record of a pod": {
		func(d *damaged) string { return filepath.Join("sandboxes", d.pod, sandboxFile) },
		true,
		func(d *damaged) {
			assert.EqualValues(d, 137, d.exited(d.id).ExitCode)
			_, err := d.PodSandboxStatus(d.Context(), d.pod, false)
			require.ErrorContains(d, err, "not found")
			assert.Empty(d, leftovers(d.id))
			require.NoError(d, d.RemoveContainer(d.Context(), d.id))
			assert.NoDirExists(d, d.dir)
		},
	},
	"the record of a container": {
		func(d *damaged) string { return filepath.Join("containers", d.id, containerFile) },
		true,
		func(d *damaged) {
			_, err := d.ContainerStatus(d.Context(), d.id, false)
			require.ErrorContains(d, err, "not found")
			assert.Empty(d, leftovers(d.id))
			ctx, cancel := context.WithTimeout(d.Context(), testTimeout)
			defer cancel()
			require.NoError(d, waitGone(ctx, filepath.Join(d.dir, shim.LifeFIFO)), "its shim still runs")
			require.NoError(d, d.RemovePodSandbox(d.Context(), d.pod))
		},
	},
	"the start of a container": {
		func(d *damaged) string { return filepath.Join("containers", d.id, shim.StartedFile) },
		true,
		func(d *damaged) {
			assert.FileExists(d, d.file, "it is on record that the container was started")
			st := d.status(d.id)
			assert.Equal(d, running, st.State)
			assert.Equal(d, st.CreatedAt, st.StartedAt)
			assert.Equal(d, "in", d.sync(d.id, "printf in"))
		},
	},
	"what a container runs": {
		func(d *damaged) string { return filepath.Join("containers", d.id, shim.SpecFile) },
		false,
		func(d *damaged) {
			assert.Equal(d, running, d.status(d.id).State)
			_, _, err := d.ExecSync(d.Context(), d.id, []string{"true"}, testTimeout)
			require.ErrorContains(d, err, d.file, "it runs on, but nobody can look into it")
		},
	},
}

func TestOnlyOneContainerIsLostIfAFile(t *testing.T) {
	for damage, f := range testenv.Damages {
		for what, tc := range brokenRecords {
			t.Run(damage+", "+what, func(t *testing.T) {
				d := &damaged{world: newWorld(t)}
				d.pod = d.world.pod("broken")
				d.id = d.run(d.pod, "echo ready; "+idle)
				d.other = d.run(d.world.pod("whole"), idle)
				d.prints(d.id, "ready")
				d.dir = filepath.Join(d.options.Root, "containers", d.id)
				d.file = filepath.Join(d.options.Root, tc.file(d))
				require.NoError(t, d.Close(t.Context()))
				testenv.Damage(t, d.file, f)
				d.open()
				tc.expect(d)
				assert.Equal(t, running, d.status(d.other).State)
				d.reopen()
				_, err := os.Stat(d.file + ".broken")
				assert.Equal(t, tc.aside, err == nil, "it stays where somebody can look at it")
				assert.Equal(t, running, d.status(d.other).State)
				assert.Equal(t, "new\n", d.output("echo new"))
			})
		}
	}
}

func TestAContainerIsNotStartedTwiceIfItsFile(t *testing.T) {
	for name, damage := range testenv.Damages {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.exitedID(w.run(w.pod("over"), "exit 3"))
			dir := filepath.Join(w.options.Root, "containers", id)
			require.NoError(t, w.Close(t.Context()))
			testenv.Damage(t, filepath.Join(dir, shim.StartedFile), damage)
			w.open()
			assert.EqualValues(t, 3, w.status(id).ExitCode)

			require.NoError(t, w.Close(t.Context()))
			testenv.Damage(t, filepath.Join(dir, shim.ExitFile), damage)
			w.open()
			assert.Equal(t, exited, w.status(id).State)
			assert.Contains(t, w.status(id).Message, shim.ExitFile)
		})
	}
}

func TestOnAFullDiskNothingHalfMadeIsLeft(t *testing.T) {
	testenv.OnFullDisk(t, func(fill func()) {
		w := newWorld(t)
		pod := w.pod("pod")
		fill()
		_, err := w.RunPodSandbox(t.Context(), w.podConfig("another"), "")
		require.ErrorContains(t, err, "is full")
		_, err = w.CreateContainer(t.Context(), pod, &runtimeapi.ContainerConfig{
			Metadata: &runtimeapi.ContainerMetadata{Name: "main"},
			Image:    &runtimeapi.ImageSpec{Image: "busybox"},
		}, nil)
		require.ErrorContains(t, err, "is full")
		require.ErrorContains(t, w.StopPodSandbox(t.Context(), pod), "is full")
		assert.Empty(t, w.ids())
		folder := filepath.Join(w.options.Root, "sandboxes")
		sandboxes, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, sandboxes, 1)
		assert.Equal(t, pod, sandboxes[0].Name())
		require.NoError(t, w.loadSandbox(filepath.Join(folder, pod)))
		assert.Equal(t, runtimeapi.PodSandboxState_SANDBOX_READY, w.sandboxes[pod].record.state())
	})
}

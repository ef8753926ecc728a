package runtime

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// The probe of the next kubelet may find another isolation than the one before.
// The container here has none: one whose mounts came to be the host's would do harm.
func TestExecIsWhereTheContainerIs(t *testing.T) {
	w := newWorld(t)
	needsView(w)
	possible := w.isolation
	w.isolation = noIsolation
	id := w.run(w.pod("exec"), idle)

	w.reopen()
	require.Equal(t, possible, w.isolation)
	assert.Equal(t, noIsolation, w.containers[id].record.Isolation)
	assert.Equal(t, shim.Namespaces(), w.sync(id, "printf '%s %s' $(readlink /proc/self/ns/mnt; readlink /proc/self/ns/uts)"))

	id = w.create(w.pod("other"), idle)
	w.reopen()
	assert.Equal(t, possible, w.containers[id].record.Isolation)
}

// The namespaces are new here, so that nothing happens to the host's even if the
// shim does not refuse.
func TestTheShimMountsNothingWhenItCannotTellItsNamespacesFromTheHosts(t *testing.T) {
	w := newWorld(t)
	needsView(w)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/"+shim.RootDir, 0o755))
	require.NoError(t, shim.WriteFile(dir, shim.SpecFile, shim.Spec{View: true, HostFiles: true}))
	for name, tc := range map[string]struct {
		change func(env []string) []string
		want   string
	}{
		"as the runtime starts it":     {func(env []string) []string { return env }, ""},
		"by somebody who says nothing": {func([]string) []string { return nil }, "it is not known whether the namespaces are the host's"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := w.isolation.command(t.Context(), shim.ProbeName, &shim.User{}, dir)
			cmd.Env = tc.change(cmd.Env)
			report, err := w.start(cmd, w.options.Lifeline)
			require.NoError(t, err)
			waitErr := cmd.Wait()
			if tc.want == "" {
				require.NoError(t, report)
				require.NoError(t, waitErr)
			} else {
				require.ErrorContains(t, report, tc.want)
			}
		})
	}
}

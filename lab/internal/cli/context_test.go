package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
)

// newElsewhere returns a lab that seems to run, and whose kubeconfig another program has turned to
// a cluster of its own.
func newElsewhere(t *testing.T) layout.Layout {
	t.Helper()
	l, err := layout.New(filepath.Join(t.TempDir(), "lab"))
	require.NoError(t, err)
	require.NoError(t, l.Mark())
	require.NoError(t, l.Create())
	_, err = pki.Create(l, component.NodeName, component.FirstServiceIP)
	require.NoError(t, err)
	require.NoError(t, pki.WriteKubeconfigs(l, "https://127.0.0.1:1"))
	require.NoError(t, pki.WriteFaultsKubeconfig(l, "https://127.0.0.1:1"))
	useContext(t, l.AdminKubeconfig(), "kind-kind")

	lock, err := os.Create(l.SupervisorLock()) // as the supervisor has it
	require.NoError(t, err)
	t.Cleanup(func() { _ = lock.Close() })
	require.NoError(t, unix.FcntlFlock(lock.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}))
	return l
}

func useContext(t *testing.T, file, name string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(file)
	require.NoError(t, err)
	config.CurrentContext = name
	require.NoError(t, clientcmd.WriteToFile(*config, file))
}

func TestAKubeconfigThatLeadsElsewhereIsNoticed(t *testing.T) {
	l := newElsewhere(t)
	want := l.AdminKubeconfig() + ` leads to the context "kind-kind", not to the lab (to go back: kubectl --kubeconfig='` + l.AdminKubeconfig() + `' config use-context lab)`
	for name, args := range map[string][]string{
		"kubectl":                       {"kubectl", "delete", "pod", "config"},
		"kubectl, a flag first":         {"kubectl", "--namespace=shop", "get", "pods"},
		"a verb":                        {"heal"},
		"a program behind the proxy":    {"run", "true"},
		"a fault of a resource's watch": {"freeze", "pods"},
	} {
		t.Run(name, func(t *testing.T) {
			_, errOut, err := runLab(t, append([]string{"--dir", l.Root()}, args...)...)
			require.Error(t, err)
			assert.Equal(t, "lab: "+want+"\n", errOut)
		})
	}
	t.Run("up", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		require.EqualError(t, (&app{out: io.Discard}).waitUsable(ctx, l), want)
	})
	t.Run("a report has no events of another cluster", func(t *testing.T) {
		require.EqualError(t, events(t.Context(), l, io.Discard), want)
	})
	t.Run("the way back", func(t *testing.T) {
		out, errOut, err := runLab(t, "--dir", l.Root(), "kubectl", "config", "use-context", "lab")
		require.NoError(t, err, errOut)
		assert.Contains(t, out, "Switched")
		require.NoError(t, ownContext(l.AdminKubeconfig()))
	})
	t.Run("the one for lab run", func(t *testing.T) {
		useContext(t, l.Kubeconfig(pki.FaultProxy), "kind-kind")
		_, errOut, err := runLab(t, "--dir", l.Root(), "run", "true")
		require.Error(t, err)
		assert.Contains(t, errOut, l.Kubeconfig(pki.FaultProxy)+` leads to the context "kind-kind"`)
	})
	t.Run("one that is gone", func(t *testing.T) {
		require.NoError(t, os.Remove(l.AdminKubeconfig()))
		require.ErrorContains(t, ownContext(l.AdminKubeconfig()), "(to write it: lab down, then lab up)")
	})
}

package cli

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/jsonfile"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/settings"
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
	require.NoError(t, pki.WriteKubeconfigs(l, "https://127.0.0.1:1", "https://127.0.0.1:1"))
	useContext(t, l.AdminKubeconfig(), "kind-kind")
	require.NoError(t, jsonfile.Write(l.Settings(), settings.Settings{}))

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
		"kubectl":                           {"kubectl", "delete", "pod", "config"},
		"kubectl, a flag first":             {"kubectl", "--namespace=shop", "get", "pods"},
		"kubectl, an empty context":         {"kubectl", "--context=", "get", "pods"},
		"kubectl, an empty context apart":   {"kubectl", "get", "pods", "--context", ""},
		"kubectl, with a program's context": {"kubectl", "exec", "pod", "--", "program", "--context=lab"},
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
	for name, args := range map[string][]string{
		"kubectl that names its context first": {"kubectl", "--context=lab", "get", "pods"},
		"kubectl that names its context last":  {"kubectl", "get", "pods", "--context", "lab"},
		"a fault of a resource":                {"freeze", "pods"},
		"the end of one":                       {"heal", "pods"},
	} {
		t.Run(name+" calls the lab", func(t *testing.T) {
			_, errOut, err := runLab(t, append([]string{"--dir", l.Root()}, args...)...)
			require.Error(t, err)
			assert.Contains(t, errOut, "127.0.0.1:1")
		})
	}
	t.Run("a report has the events of the lab", func(t *testing.T) {
		require.ErrorContains(t, events(t.Context(), l, io.Discard), "127.0.0.1:1")
	})
	t.Run("a program behind the proxy has a file of its own", func(t *testing.T) {
		_, errOut, err := runLab(t, "--dir", l.Root(), "run", "true")
		require.NoError(t, err, errOut)
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

func TestAResetLeavesTheContextsOfOthers(t *testing.T) {
	l := newElsewhere(t)
	config, err := clientcmd.LoadFromFile(l.AdminKubeconfig())
	require.NoError(t, err)
	config.Contexts["kind-kind"] = &clientcmdapi.Context{Cluster: "kind-kind"}
	config.Contexts["dev"] = &clientcmdapi.Context{Cluster: pki.Context, AuthInfo: pki.Context, Namespace: "dev"} // of the lab
	require.NoError(t, clientcmd.WriteToFile(*config, l.AdminKubeconfig()))

	for range 2 {
		var out strings.Builder
		require.NoError(t, (&app{out: &out}).reset(t.Context(), l))
		assert.Contains(t, out.String(), "left what it did not: kubeconfig.")
		left, err := clientcmd.LoadFromFile(l.AdminKubeconfig())
		require.NoError(t, err)
		assert.Equal(t, []string{"kind-kind"}, slices.Collect(maps.Keys(left.Contexts)))
		assert.Equal(t, "kind-kind", left.CurrentContext)
		assert.Empty(t, left.AuthInfos, "the keys of the lab")
	}
}

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

// TestWhichCluster has a folder with kubeconfigs. The server of each is at a closed port, with the name of the file as
// its path.
func TestWhichCluster(t *testing.T) {
	const none = "error: no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG, or one of its contexts with --context\n"
	tests := map[string]struct{ home, env, kubeconfig, context, want string }{
		"--kubeconfig before everything":                  {"home", "one", "flag", "", "/flag/api"},
		"KUBECONFIG before ~/.kube/config":                {"home", "one", "", "", "/one/api"},
		"~/.kube/config at last":                          {"home", "", "", "", "/home/api"},
		"a context of the second of a list":               {"home", "one:two", "", "two", "/two/api"},
		"a file that is missing is left out of a list":    {"home", "missing:two", "", "", "/two/api"},
		"no configuration anywhere":                       {"", "", "", "", none},
		"--kubeconfig names no file, though others exist": {"home", "one", "missing", "", "missing: no such file or directory"},
		"KUBECONFIG names no file, though others exist":   {"home", "missing", "", "", none},
		"an unknown context":                              {"", "one", "", "moon", `context "moon" does not exist`},
		"no current context":                              {"", "", "undecided", "", none},
		"no current context, but one is named":            {"", "", "undecided", "one", "/one/api"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"flag", "one", "two"} {
				writeKubeconfig(t, filepath.Join(dir, name), name, closedPort+"/"+name)
			}
			one, err := os.ReadFile(filepath.Join(dir, "one"))
			require.NoError(t, err)
			undecided := strings.Replace(string(one), "current-context: one, ", "", 1)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "undecided"), []byte(undecided), 0o600))
			if tc.home != "" {
				writeKubeconfig(t, filepath.Join(dir, ".kube", "config"), "home", closedPort+"/home")
			}
			program, stderr := command(t, "--kubeconfig", tc.kubeconfig, "--context", tc.context)
			program.Dir, program.Env = dir, append(program.Env, "HOME="+dir, "KUBECONFIG="+tc.env)
			require.Error(t, program.Run())
			assert.Contains(t, stderr.String(), tc.want)
		})
	}
}

// twoPages answers with a and b, and then refuses the second page.
func twoPages(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("continue") == "" {
		writeJSON(w, http.StatusOK, namespaceList("next", "a", "b"))
		return
	}
	refuse(401, "Unauthorized", "Unauthorized")(w, r)
}

func TestPagesBeforeAnErrorArePrinted(t *testing.T) {
	for output, want := range map[string]string{"": "a\nb\n", "wide": "NAME   STATUS   AGE\na      Active   200d\nb      Active   200d\n"} {
		stdout, stderr, code := clientList(t, "--kubeconfig", serve(t, twoPages), "-o", output)
		assert.Equal(t, 1, code)
		assert.Equal(t, want, stdout)
		assert.Contains(t, stderr, "Unauthorized")
	}
}

func TestATimeoutOfZeroIsNoLimit(t *testing.T) {
	stdout, stderr, _ := clientList(t, "--request-timeout=0", "--kubeconfig", serve(t, twoPages))
	assert.Equal(t, "a\nb\n", stdout, stderr)
}

func TestFlagsAfterAStrayWordAreNotIgnored(t *testing.T) {
	_, stderr, code := clientList(t, "x", "--kubeconfig", "missing")
	assert.Equal(t, 2, code)
	assert.Equal(t, "error: \"x\" isn't a flag, and all flags after it would be ignored\n", stderr)
}

func TestAnUnknownOutputIsAnError(t *testing.T) {
	_, stderr, code := clientList(t, "--kubeconfig", serve(t, twoPages), "-o", "json")
	assert.Equal(t, 1, code)
	assert.Equal(t, "error: unknown output \"json\"; only wide is known\n", stderr)
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAFullDiskIsAFailure(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", serve(t, twoPages))
	require.NoError(t, err)
	require.EqualError(t, run(t.Context(), config, fullDisk{}), "printing the namespaces: no space left on device")
}

func TestASignalEndsIt(t *testing.T) {
	requested := make(chan struct{}, 1)
	program, stderr := command(t, "--request-timeout=1h", "--kubeconfig", serve(t, func(_ http.ResponseWriter, r *http.Request) {
		requested <- struct{}{}
		<-r.Context().Done()
	}))
	require.NoError(t, program.Start())
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	select {
	case <-requested:
	case err := <-ended:
		require.Fail(t, "the program made no request", "%v: %s", err, stderr)
	}
	require.NoError(t, program.Process.Signal(os.Interrupt))
	require.Error(t, <-ended)
	assert.Equal(t, "error: interrupted: the list is not complete\n", stderr.String())
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/01-client-list/cli"
	"example.com/hacking-a-controller/testcluster"
)

// runMain makes the test binary be client-list: signals and pipes can only be
// tried on a process.
const runMain = "CLIENT_LIST_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":             {[]string{"--namespace=x"}, "error: unknown flag: --namespace; see client-list --help\n"},
		"a flag without its value":    {[]string{"-o"}, "error: flag needs an argument: 'o' in -o; see client-list --help\n"},
		"an argument":                 {[]string{"kube-system"}, "error: unexpected argument \"kube-system\"; see client-list --help\n"},
		"an unknown output":           {[]string{"-o", "json"}, "error: unknown output \"json\", only wide is known; see client-list --help\n"},
		"a negative chunk size":       {[]string{"--chunk-size=-1"}, "error: --chunk-size is -1, it must be 0 or more; see client-list --help\n"},
		"a request that may not last": {[]string{"--request-timeout=0s"}, "error: --request-timeout is 0s, it must be more than 0; see client-list --help\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, cli.Run(t.Context(), newCommand(), tc.args, &stdout, &stderr))
			assert.Equal(t, tc.want, stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

func TestHelpGoesToStdoutAndIsNoFailure(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 0, cli.Run(t.Context(), newCommand(), []string{"--help"}, &stdout, &stderr))
	assert.Empty(t, stderr.String())
	for _, flag := range []string{"--kubeconfig", "--context", "--output", "--chunk-size", "--request-timeout"} {
		assert.Contains(t, stdout.String(), flag)
	}
}

func TestAFullDiskIsAFailure(t *testing.T) {
	kubeconfig := kubeconfigFor(t, servePages(t, []string{"a", "b"}))
	for _, output := range []string{"", "wide"} {
		var stderr bytes.Buffer
		code := cli.Run(t.Context(), newCommand(), []string{"--kubeconfig", kubeconfig, "-o", output}, brokenWriter{syscall.ENOSPC}, &stderr)
		assert.Equal(t, 1, code)
		assert.Equal(t, "error: writing the list: no space left on device\n", stderr.String())
	}
}

// brokenWriter fails every write.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// TestHead is `client-list | head -1`: the reader goes after the first line,
// and the second page comes later.
func TestHead(t *testing.T) {
	readerGone := make(chan struct{})
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			writeJSON(w, http.StatusOK, namespaceList("second page", "a"))
			return
		}
		select {
		case <-readerGone:
		case <-r.Context().Done():
		}
		writeJSON(w, http.StatusOK, namespaceList("", "b"))
	})

	program, stderr := command(t, "--kubeconfig", kubeconfigFor(t, server))
	stdout, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())

	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "a\n", line)
	require.NoError(t, stdout.Close())
	close(readerGone)

	// Like any program at the head of a pipe, it dies of SIGPIPE.
	_ = program.Wait()
	assert.Equal(t, syscall.SIGPIPE, program.ProcessState.Sys().(syscall.WaitStatus).Signal())
	assert.Empty(t, stderr.String())
}

func TestASignalEndsIt(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			requested := make(chan struct{}, 1)
			server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				requested <- struct{}{}
				<-r.Context().Done()
			})

			program, stderr := command(t, "--kubeconfig", kubeconfigFor(t, server), "--request-timeout=1h")
			require.NoError(t, program.Start())
			ended := make(chan error, 1)
			go func() { ended <- program.Wait() }()
			select {
			case <-requested:
			case err := <-ended:
				require.Fail(t, "the program made no request", "%v: %s", err, stderr)
			}
			require.NoError(t, program.Process.Signal(sig))

			require.Error(t, <-ended)
			assert.Equal(t, 1, program.ProcessState.ExitCode())
			assert.Equal(t, "error: interrupted: the list is not complete\n", stderr.String())
		})
	}
}

// command prepares client-list as a process, which is killed should it hang.
func command(t *testing.T, args ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	t.Cleanup(cancel)
	program := exec.CommandContext(ctx, os.Args[0], args...)
	program.Env = append(os.Environ(), runMain+"=1")
	stderr := new(strings.Builder)
	program.Stderr = stderr
	return program, stderr
}

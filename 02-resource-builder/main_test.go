package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

// runMain makes the test binary be resource-builder: signals, pipes and the
// standard input can only be tried on a process.
const runMain = "RESOURCE_BUILDER_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestHead is `resource-builder namespaces | head -1`: the reader goes after the
// first line, and the second page comes later.
func TestHead(t *testing.T) {
	readerGone := make(chan struct{})
	server := serve(t, discover(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			writeJSON(w, http.StatusOK, namespaceList("second page", "a"))
			return
		}
		select {
		case <-readerGone:
		case <-r.Context().Done():
		}
		writeJSON(w, http.StatusOK, namespaceList("", "b"))
	}))

	program, stderr := command(t, "namespaces", "--kubeconfig", kubeconfigFor(t, server))
	stdout, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())

	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "a is currently Active\n", line)
	require.NoError(t, stdout.Close())
	close(readerGone)

	// Like any program at the head of a pipe, it dies of SIGPIPE.
	_ = program.Wait()
	assert.Equal(t, syscall.SIGPIPE, program.ProcessState.Sys().(syscall.WaitStatus).Signal())
	assert.Empty(t, stderr.String())
}

func TestASignalEndsIt(t *testing.T) {
	// The document is requested when it is complete. Of the next one a beginning comes, which is
	// longer than what the decoder reads at once.
	stdin := manifest("v1", "Namespace", "a") + "---\n" + strings.Repeat("# and then nothing\n", 500)
	notFound := func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, status(http.StatusNotFound, "NotFound", "it is not there"))
	}
	tests := map[string]struct {
		signal syscall.Signal
		args   []string
		answer http.HandlerFunc
	}{
		"Ctrl-C while it waits for the server":         {syscall.SIGINT, []string{"namespaces"}, hang},
		"SIGTERM while it waits for the server":        {syscall.SIGTERM, []string{"namespaces"}, hang},
		"Ctrl-C while it waits for its standard input": {syscall.SIGINT, []string{"-f", "-"}, notFound},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			requested := make(chan string, 10)
			server := serve(t, discover(func(w http.ResponseWriter, r *http.Request) {
				requested <- r.URL.Path
				tc.answer(w, r)
			}))
			program, stderr := command(t, append(tc.args, "--kubeconfig", kubeconfigFor(t, server), "--request-timeout=1h")...)
			input, err := program.StdinPipe() // stays open
			require.NoError(t, err)
			require.NoError(t, program.Start())
			_, _ = io.WriteString(input, stdin) // not all of them read it
			ended := make(chan error, 1)
			go func() { ended <- program.Wait() }()
			select {
			case <-requested:
			case err := <-ended:
				require.Fail(t, "the program made no request", "%v: %s", err, stderr)
			}
			require.NoError(t, program.Process.Signal(tc.signal))

			require.Error(t, <-ended)
			assert.Equal(t, 1, program.ProcessState.ExitCode())
			assert.Equal(t, "error: interrupted: the list is not complete\n", stderr.String())
		})
	}
}

func TestVerboseShowsTheRequests(t *testing.T) {
	server := serve(t, discover(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, namespaceList("", "a"))
	}))
	program, stderr := command(t, "namespaces", "-v=6", "--kubeconfig", kubeconfigFor(t, server))
	require.NoError(t, program.Run(), stderr.String())
	assert.Contains(t, stderr.String(), `verb="GET" url="`+server.URL+`/api/v1/namespaces?limit=500&timeout=10s" status="200 OK"`)
}

// TestClientGoIsNotHeard: its log goes to the standard error, past the program.
func TestClientGoIsNotHeard(t *testing.T) {
	server := serve(t, hang)
	program, stderr := command(t, "namespaces", "--kubeconfig", kubeconfigFor(t, server), "--request-timeout=100ms")
	require.Error(t, program.Run())
	assert.Equal(t, "error: "+server.URL+" did not answer in time; see whether it is up with kubectl get --raw /readyz\n", stderr.String())
}

// command prepares resource-builder as a process, which is killed should it hang.
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

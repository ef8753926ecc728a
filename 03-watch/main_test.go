package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

// runMain makes the test binary be watch: signals and pipes can only be tried
// on a process.
const runMain = "WATCH_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		main()
	}
	testcluster.Main(m)
}

// process starts the program. It is killed should it hang.
func process(t *testing.T, args ...string) (program *exec.Cmd, stdout *bufio.Scanner, stderr *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	t.Cleanup(cancel)
	program = exec.CommandContext(ctx, os.Args[0], args...)
	program.Env = append(os.Environ(), runMain+"=1")
	stderr = &bytes.Buffer{}
	program.Stderr = stderr
	pipe, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	return program, bufio.NewScanner(pipe), stderr
}

func TestASignalEndsEachSubcommandAtOnceAndIsNoFailure(t *testing.T) {
	c := testcluster.Shared(t)
	namespace := createNamespace(t, c.Client, "signals")
	createPod(t, c.Client, namespace, "a")
	added := "ADDED pod a in namespace " + namespace
	tests := map[string]struct {
		args   []string
		signal syscall.Signal
		first  string
	}{
		"pods":             {[]string{"pods"}, os.Interrupt.(syscall.Signal), added},
		"pods and SIGTERM": {[]string{"pods"}, syscall.SIGTERM, added},
		"raw":              {[]string{"raw"}, os.Interrupt.(syscall.Signal), added},
		"any type":         {[]string{"pods", "--any=po"}, os.Interrupt.(syscall.Signal), added},
		"runtime":          {[]string{"runtime"}, os.Interrupt.(syscall.Signal), "Pods in namespace " + namespace + " have been running for 0."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			program, stdout, stderr := process(t, append(tc.args, "-n", namespace, "--kubeconfig", c.Kubeconfig)...)
			require.True(t, stdout.Scan(), stderr)
			assert.Contains(t, stdout.Text(), tc.first)
			require.NoError(t, program.Process.Signal(tc.signal))
			assert.False(t, stdout.Scan(), "it prints nothing more")
			require.NoError(t, program.Wait(), stderr)
			assert.NotContains(t, stderr.String(), "error")
		})
	}
}

func TestASignalEndsAProgramThatWaitsForDiscovery(t *testing.T) {
	requested := make(chan struct{}, 100)
	kubeconfig := silentServer(t, requested)
	program, stdout, stderr := process(t, "pods", "--any=pods", "--kubeconfig", kubeconfig)
	<-requested
	require.NoError(t, program.Process.Signal(os.Interrupt))
	assert.False(t, stdout.Scan())
	require.NoError(t, program.Wait(), stderr)
	assert.Empty(t, strings.TrimSpace(stderr.String()))
}

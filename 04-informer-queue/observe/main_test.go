package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

// asProgram names a variable that makes the test binary be another program:
// signals, pipes and process numbers can only be tried on a process.
const asProgram = "OBSERVE_TEST_PROGRAM"

var programs = map[string]func(args []string) int{
	"observe": func(args []string) int { return run(signals, args, os.Stdout, os.Stderr) },
}

func TestMain(m *testing.M) {
	if program := programs[os.Getenv(asProgram)]; program != nil {
		os.Exit(program(os.Args[1:]))
	}
	klog.SetLogger(logr.Discard())
	testcluster.Main(m)
}

// script writes a shell script and returns its path.
func script(t testing.TB, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700))
	return path
}

// printed is what a program has printed.
type printed struct{ stdout, stderr testcluster.Output }

func (p *printed) output() string { return p.stdout.String() + p.stderr.String() }

// running is an observe that runs inside of the test.
type running struct {
	printed
	cancel context.CancelFunc
	code   chan int
}

// start starts one. The test must wait for its end.
func start(t testing.TB, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{cancel: cancel, code: make(chan int, 1)}
	go func() {
		r.code <- run(func() (context.Context, context.Context) { return ctx, context.WithoutCancel(ctx) }, args, &r.stdout, &r.stderr)
	}()
	t.Cleanup(cancel)
	return r
}

// end stops it and returns its exit code.
func (r *running) end() int {
	r.cancel()
	return <-r.code
}

// runToEnd runs observe to its own end, with that exit code.
func runToEnd(t testing.TB, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	r := start(t, args...)
	select {
	case code := <-r.code:
		require.Equal(t, want, code, r.output())
	case <-time.After(testcluster.TestTimeout):
		require.Fail(t, "observe does not end", r.output())
	}
	return r.stdout.String(), r.stderr.String()
}

// eventually waits for a condition.
func eventually(t testing.TB, condition func() bool, message func() string) {
	t.Helper()
	if !assert.Eventually(t, condition, testcluster.TestTimeout, 5*time.Millisecond) {
		require.Fail(t, message())
	}
}

// content is what is in a file, or nothing.
func content(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// events are the header lines without their time and version: Sync default a.
func events(stdout string) []string {
	var events []string
	for line := range strings.Lines(stdout) {
		if head, command, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			events = append(events, strings.Fields(head)[2]+" "+command)
		}
	}
	return events
}

// freeAddress is one that no program listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	// luck: startMonitored takes another one if a program was faster
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// get sends a request to a monitor. The answer begins with the status.
func get(t testing.TB, address, path string) string {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	require.NoError(t, err)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "no answer"
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

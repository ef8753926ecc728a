package runtime

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// screen is the client's end of an output stream.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) Close() error { return nil }

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(s.String(), text) }, testTimeout, tick, "%q never came", text)
}

// typeUntil types a line again and again, until a new size of the terminal, which
// travels on a way of its own, has arrived.
func typeUntil(t *testing.T, keyboard io.Writer, out *screen, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := keyboard.Write([]byte("hello\n"))
		return err == nil && strings.Contains(out.String(), text)
	}, testTimeout, 50*time.Millisecond)
}

// client runs a stream in the background and returns how it ended.
func client(t testing.TB, f func(ctx context.Context) error) func() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), testTimeout)
	result := make(chan error, 1)
	go func() { result <- f(ctx) }()
	return func() error {
		defer cancel()
		return <-result
	}
}

func TestExecStreams(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("exec"), idle)
	var out, errOut screen
	err := streams{w.Service}.Exec(t.Context(), id, []string{"sh", "-c", "cat; echo end >&2; exit 3"},
		strings.NewReader("typed\n"), &out, &errOut, false, nil)
	var exit utilexec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 3, exit.ExitStatus())
	assert.Equal(t, "typed\n", out.String())
	assert.Equal(t, "end\n", errOut.String())
}

func TestExecTerminal(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("exec"), idle)
	in, keyboard := io.Pipe()
	defer keyboard.Close()
	var out screen
	sizes := make(chan remotecommand.TerminalSize, 1)
	sizes <- remotecommand.TerminalSize{Width: 100, Height: 30}
	wait := client(t, func(ctx context.Context) error {
		return streams{w.Service}.Exec(ctx, id, []string{"sh", "-c", "test -t 0 && stty size; while read -r line; do echo got $line; stty size; done; exit 4"},
			in, &out, nil, true, sizes)
	})
	out.shows(t, "\r\n")
	require.Equal(t, "30 100\r\n", out.String(), "the command begins with the client's size")
	sizes <- remotecommand.TerminalSize{Width: 132, Height: 43}
	typeUntil(t, keyboard, &out, "43 132")
	out.shows(t, "got hello\r\n")
	_, err := keyboard.Write([]byte{4}) // Ctrl-D
	require.NoError(t, err)
	require.ErrorContains(t, wait(), "exit code 4")
}

func TestAClientNeedNotSendASize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sizes := make(chan remotecommand.TerminalSize)
		_, ok := firstSize(t.Context(), sizes)
		assert.False(t, ok, "it sent none in time")
		close(sizes)
		_, ok = firstSize(t.Context(), sizes)
		assert.False(t, ok, "it is gone")
	})
}

func TestExecEndsWhenTheClientLeaves(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("leave"), idle)
	before := w.processes(id)
	ctx, leave := context.WithCancel(t.Context())
	var out screen
	wait := client(t, func(context.Context) error {
		return streams{w.Service}.Exec(ctx, id, []string{"sh", "-c", "echo here; sleep 1000"}, nil, &out, nil, false, nil)
	})
	out.shows(t, "here")
	leave()
	require.Error(t, wait())
	assert.ElementsMatch(t, before, leftovers(id))
}

func interactive(c *runtimeapi.ContainerConfig) { c.Stdin = true }

func TestAttach(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("attach"), "echo early; while read -r line; do echo got $line; echo err $line >&2; done; echo end", interactive,
		func(c *runtimeapi.ContainerConfig) { c.StdinOnce = true })
	w.prints(id, "early")
	in, keyboard := io.Pipe()
	var out, errOut screen
	wait := client(t, func(ctx context.Context) error {
		return streams{w.Service}.Attach(ctx, id, in, &out, &errOut, false, nil)
	})
	_, err := keyboard.Write([]byte("hello\n"))
	require.NoError(t, err)
	out.shows(t, "got hello\n")
	errOut.shows(t, "err hello\n")
	assert.NotContains(t, out.String(), "early", "attach shows what comes after it")
	// With stdinOnce, the container's input ends with the first client's.
	require.NoError(t, keyboard.Close())
	require.NoError(t, wait())
	assert.Contains(t, out.String(), "end\n")
	assert.EqualValues(t, 0, w.exited(id).ExitCode)
}

func TestStdinStaysOpenBetweenClients(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("again"), "while read -r line; do echo got $line; done", interactive)
	for _, word := range []string{"first", "second"} {
		ctx, leave := context.WithCancel(t.Context())
		var out screen
		wait := client(t, func(context.Context) error {
			return streams{w.Service}.Attach(ctx, id, strings.NewReader(word+"\n"), &out, nil, false, nil)
		})
		out.shows(t, "got "+word)
		leave()
		require.NoError(t, wait())
	}
	assert.Equal(t, running, w.status(id).State)
}

func TestTerminal(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("tty"), "test -t 1 && echo a terminal on $(tty); while read -r line; do echo got $line; stty size; done; exit 6", interactive,
		func(c *runtimeapi.ContainerConfig) { c.Tty = true })
	w.prints(id, "a terminal on /dev/")
	in, keyboard := io.Pipe()
	defer keyboard.Close()
	var out screen
	sizes := make(chan remotecommand.TerminalSize)
	wait := client(t, func(ctx context.Context) error {
		return streams{w.Service}.Attach(ctx, id, in, &out, nil, true, sizes)
	})
	sizes <- remotecommand.TerminalSize{Width: 100, Height: 30}
	typeUntil(t, keyboard, &out, "30 100")
	out.shows(t, "got hello\r\n")
	_, err := keyboard.Write([]byte{4})
	require.NoError(t, err)
	require.NoError(t, wait())
	assert.EqualValues(t, 6, w.exited(id).ExitCode)
}

func TestStreamURLs(t *testing.T) {
	w := newWorld(t)
	pod := w.pod("urls")
	id := w.run(pod, idle)
	exec, err := w.Exec(t.Context(), &runtimeapi.ExecRequest{ContainerId: id, Cmd: []string{"true"}, Stdout: true})
	require.NoError(t, err)
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+/exec/\S+$`, exec.Url)
	attach, err := w.Attach(t.Context(), &runtimeapi.AttachRequest{ContainerId: id, Stdout: true})
	require.NoError(t, err)
	assert.Regexp(t, `/attach/\S+$`, attach.Url)
	forward, err := w.PortForward(t.Context(), &runtimeapi.PortForwardRequest{PodSandboxId: pod, Port: []int32{80}})
	require.NoError(t, err)
	assert.Regexp(t, `/portforward/\S+$`, forward.Url)

	require.NoError(t, w.StopContainer(t.Context(), id, 0))
	_, err = w.Exec(t.Context(), &runtimeapi.ExecRequest{ContainerId: id, Cmd: []string{"true"}, Stdout: true})
	require.Error(t, err)
}

func TestStreamsAnswerNoPageInABrowser(t *testing.T) {
	w := newWorld(t)
	exec, err := w.Exec(t.Context(), &runtimeapi.ExecRequest{ContainerId: w.run(w.pod("page"), idle), Cmd: []string{"true"}, Stdout: true})
	require.NoError(t, err)
	ask := func(host string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, exec.GetUrl(), nil)
		require.NoError(t, err)
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	assert.Equal(t, http.StatusMisdirectedRequest, ask("evil.example"))
	assert.Equal(t, http.StatusBadRequest, ask("localhost"), "the token is still good, and wants a stream")
}

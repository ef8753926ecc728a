package pods

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

const sleeper = `
terminationGracePeriodSeconds: 1
containers: [{name: main, image: busybox, command: [sleep, "1000"]}]`

func TestExec(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "sleeper", sleeper)
	expectReady(t, ns, "sleeper")

	assert.Equal(t, "hello\n", lab.Kubectl(t, "exec", "sleeper", "-n", ns, "--", "echo", "hello"))

	_, err := lab.Command(t.Context(), "kubectl", "exec", "sleeper", "-n", ns, "--", "sh", "-c", "echo oops >&2; exit 7")
	require.Error(t, err)
	assert.Contains(t, err.Error(), "exit status 7")
	assert.Contains(t, err.Error(), "oops")

	echo := startKubectl(t, "exec", "-i", "sleeper", "-n", ns, "--", "cat")
	echo.write(t, "through and back\n")
	echo.expectOutput(t, "through and back")
	echo.closeInput(t)
	require.NoError(t, echo.wait(t))
}

func TestExecWithATerminal(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "sleeper", sleeper)
	expectReady(t, ns, "sleeper")

	// The size comes before the command starts, unless the client is very late.
	shell := startKubectlOnTerminal(t, "exec", "-it", "sleeper", "-n", ns, "--", "sh", "-c",
		`test -t 0 && echo a terminal; until test "$(stty size)" = "33 77"; do sleep 0.1; done; echo its size; read line; echo got $line`)
	shell.expectOutput(t, "a terminal")
	shell.expectOutput(t, "its size")
	shell.write(t, "typed\n")
	shell.expectOutput(t, "got typed")
	require.NoError(t, shell.wait(t))
}

func TestAttach(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "reader", `
restartPolicy: Never
containers: [{name: main, image: busybox, stdin: true, stdinOnce: true, command: [sh, -c, "while read line; do echo got $line; done; echo end of input"]}]`)
	expectReady(t, ns, "reader")
	attached := startKubectl(t, "attach", "-i", "reader", "-n", ns)
	attached.write(t, "one\n")
	attached.expectOutput(t, "got one")
	attached.closeInput(t)
	expectPhase(t, ns, "reader", corev1.PodSucceeded)
	expectLog(t, ns, "reader", "got one", "end of input")
}

func TestLogsFollowAndPrevious(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "twice", `
containers:
- name: main
  image: busybox
  command: [sh, -c, "if test -e \"$LAB_ROOT\"/shared/again; then echo second; sleep 1000; fi; touch \"$LAB_ROOT\"/shared/again; echo first; exit 1"]
  volumeMounts: [{name: work, mountPath: /shared}]
terminationGracePeriodSeconds: 1
volumes: [{name: work, emptyDir: {}}]`)
	expectPod(t, ns, "twice", "was restarted", func(p *corev1.Pod) bool { return restarted(p) && isReady(p) })
	expectLog(t, ns, "twice", "second")
	assert.Equal(t, "first\n", lab.Kubectl(t, "logs", "twice", "-n", ns, "--previous"))

	createPod(t, ns, "ticker", `
terminationGracePeriodSeconds: 1
containers: [{name: main, image: busybox, command: [sh, -c, "i=0; while true; do i=$((i+1)); echo tick $i; sleep 0.2; done"]}]`)
	expectReady(t, ns, "ticker")
	follow := startKubectl(t, "logs", "-f", "ticker", "-n", ns)
	follow.expectOutput(t, "tick 1\n")
	follow.expectOutput(t, "tick 12\n") // which was not written when the command began
}

func TestPortForward(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "server", `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: testserver:v1
  readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}`)
	expectReady(t, ns, "server")
	forward := startKubectl(t, "port-forward", "pod/server", "-n", ns, ":8080")
	port := forward.findNumber(t, "Forwarding from 127.0.0.1:%d ->")
	for range 3 { // the connection can be used again
		assert.Equal(t, "server\n", get(t, "127.0.0.1", port, "/"))
	}
}

// get fetches a page as soon as the server answers.
func get(t *testing.T, host string, port int, path string) string {
	t.Helper()
	client := &http.Client{Timeout: testenv.Timeout()}
	var body []byte
	labtest.Eventually(t, "the server answers", func(context.Context) error {
		resp, err := client.Get("http://" + net.JoinHostPort(host, strconv.Itoa(port)) + path)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if body, err = io.ReadAll(resp.Body); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", resp.Status, body)
		}
		return nil
	})
	return string(body)
}

// process is a kubectl that goes on while the test does.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	mu     sync.Mutex
	output bytes.Buffer
	done   chan error
}

// Write collects the output.
func (p *process) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(data)
}

func newProcess(t *testing.T, args ...string) *process {
	t.Helper()
	binary, err := labtest.Binary()
	require.NoError(t, err)
	p := &process{cmd: exec.Command(binary, append([]string{"--dir", lab.Dir, "kubectl"}, args...)...), done: make(chan error, 1)}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		for range p.done { // until it is closed: the process has ended
		}
	})
	return p
}

func startKubectl(t *testing.T, args ...string) *process {
	t.Helper()
	p := newProcess(t, args...)
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	require.NoError(t, p.cmd.Start())
	go func() {
		p.done <- p.cmd.Wait()
		close(p.done)
	}()
	return p
}

// startKubectlOnTerminal gives it a terminal of 33 rows and 77 columns.
func startKubectlOnTerminal(t *testing.T, args ...string) *process {
	t.Helper()
	p := newProcess(t, args...)
	terminal, err := pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 33, Cols: 77})
	require.NoError(t, err)
	p.stdin = terminal
	go func() {
		_, _ = io.Copy(p, terminal) // ends with an error when the process has ended
		_ = terminal.Close()
		p.done <- p.cmd.Wait()
		close(p.done)
	}()
	return p
}

func (p *process) write(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(p.stdin, text)
	require.NoError(t, err)
}

func (p *process) closeInput(t *testing.T) {
	t.Helper()
	require.NoError(t, p.stdin.Close())
}

// wait returns how the process ended.
func (p *process) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(testenv.Timeout()):
		require.FailNow(t, "kubectl does not end", p.text())
		return nil
	}
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.output.String(), "\r", "")
}

func (p *process) expectOutput(t *testing.T, want string) {
	t.Helper()
	labtest.Eventually(t, fmt.Sprintf("kubectl prints %q", want), func(context.Context) error {
		if text := p.text(); !strings.Contains(text, want) {
			return fmt.Errorf("it printed %q", text)
		}
		return nil
	})
}

// findNumber waits for a line of the given form and returns the number in it.
func (p *process) findNumber(t *testing.T, format string) int {
	t.Helper()
	var number int
	labtest.Eventually(t, "kubectl prints "+format, func(context.Context) error {
		_, err := fmt.Sscanf(p.text(), format, &number)
		return err
	})
	return number
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

package isolate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const address = "127.0.0.1:8443"

// TestMain is a server where a test asks for one, until its input ends. It prints whether it
// listens, and who it is.
func TestMain(m *testing.M) {
	if os.Getenv("ISOLATE_TEST_LISTEN") == "" {
		os.Exit(m.Run())
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _, _ = listener.Accept() }()
	client, err := net.Dial("tcp", address)
	interfaces, _ := net.Interfaces()
	fmt.Println(os.Getpid(), os.Geteuid(), os.Getegid(), len(interfaces), err, client != nil)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// listen starts a server in a network, and returns what it prints.
func listen(t *testing.T, n *Network) (said string, pid int) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(context.WithoutCancel(t.Context()), program)
	command.Env = append(os.Environ(), "ISOLATE_TEST_LISTEN=yes")
	n.Enter(command)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	require.NoError(t, err)
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		assert.NoError(t, stdin.Close())
		assert.NoError(t, command.Wait())
	})
	said, err = bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return said, command.Process.Pid
}

func TestTwoListenAtTheSamePort(t *testing.T) {
	one, err := New()
	if err != nil { // such as in a container without the right to make namespaces
		assert.Nil(t, one)
		t.Logf("this machine gives no network: %v", err)
		return
	}
	defer one.Close()
	two, err := New()
	require.NoError(t, err)
	defer two.Close()
	for _, n := range []*Network{one, two} {
		said, pid := listen(t, n)
		// The same user as here, with one interface, which can be dialed.
		assert.Equal(t, fmt.Sprintln(pid, os.Geteuid(), os.Getegid(), 1, nil, true), said)
	}
	said, _ := listen(t, one)
	assert.Contains(t, said, "address already in use", "in one network they meet")
}

func TestWithoutANetworkACommandIsAsItWas(t *testing.T) {
	command := exec.CommandContext(t.Context(), "true")
	path := command.Path
	(*Network)(nil).Enter(command)
	(*Network)(nil).Close()
	assert.Equal(t, path, command.Path)
	assert.Equal(t, []string{"true"}, command.Args)
}

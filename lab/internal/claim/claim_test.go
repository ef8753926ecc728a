package claim

import (
	"bufio"
	"net/netip"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The numbers are beyond those that a lab claims.
const port = 1<<16 + 1

var pods = netip.MustParsePrefix("192.0.2.0/24")

// A child of the test inherits claims and waits until it is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "child" {
		Inherit(2)
		_ = exec.Command("true").Run() // which is to inherit nothing
		_, _ = os.Stdout.WriteString("ready\n")
		select {}
	}
	os.Exit(m.Run())
}

func expect(t *testing.T, want bool, take func() (bool, error)) {
	t.Helper()
	got, err := take()
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestTwoLabsNeverHaveTheSame(t *testing.T) {
	var one, another Claims
	defer one.Release()
	defer another.Release()
	for _, take := range []func(*Claims) (bool, error){
		func(c *Claims) (bool, error) { return c.Port(port) },
		func(c *Claims) (bool, error) { return c.Pods(pods) },
		func(c *Claims) (bool, error) { return c.NodePorts("1-2") },
	} {
		expect(t, true, func() (bool, error) { return take(&one) })
		expect(t, true, func() (bool, error) { return take(&one) })
		expect(t, false, func() (bool, error) { return take(&another) })
		expect(t, true, func() (bool, error) { return take(nil) })
	}
	one.Release()
	expect(t, true, func() (bool, error) { return another.Port(port) })
}

func TestAClaimLastsAsLongAsWhoInheritsIt(t *testing.T) {
	var one, another Claims
	defer another.Release()
	expect(t, true, func() (bool, error) { return one.Port(port) })
	expect(t, true, func() (bool, error) { return one.Pods(pods) })
	child := exec.CommandContext(t.Context(), os.Args[0], "child")
	child.ExtraFiles = one.Files()
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	one.Release()
	expect(t, false, func() (bool, error) { return another.Port(port) })
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()
	expect(t, true, func() (bool, error) { return another.Port(port) })
	expect(t, true, func() (bool, error) { return another.Pods(pods) })
}

package faults

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

func TestNothingListensOutsideLoopback(t *testing.T) {
	lab := sharedLab(t)
	pids := []int{supervisorPID(t, lab)}
	for _, c := range state(t, lab).Components {
		pids = append(pids, c.PID)
	}
	listening := 0
	for _, pid := range pids {
		for _, ip := range listeners(t, pid) {
			listening++
			assert.True(t, ip.IsLoopback(), "process %d listens on %s", pid, ip)
		}
	}
	assert.GreaterOrEqual(t, listening, 6, "the test does not find what listens")
}

// listeners returns the addresses at which a process listens.
func listeners(t *testing.T, pid int) []net.IP {
	t.Helper()
	var sockets []string
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	require.NoError(t, err)
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, "socket:[") {
			sockets = append(sockets, strings.Trim(target, "socket:[]"))
		}
	}
	var ips []net.IP
	for _, table := range []string{"tcp", "tcp6"} {
		file, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		require.NoError(t, err)
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			const listen, inode = "0A", 9
			if fields[3] == listen && slices.Contains(sockets, fields[inode]) {
				ips = append(ips, address(t, fields[1]))
			}
		}
	}
	return ips
}

// address reads an address of /proc/net/tcp: hexadecimal, in words of four
// bytes that are turned round.
func address(t *testing.T, text string) net.IP {
	t.Helper()
	digits, _, _ := strings.Cut(text, ":")
	ip, err := hex.DecodeString(digits)
	require.NoError(t, err)
	for word := range slices.Chunk(ip, 4) {
		slices.Reverse(word)
	}
	return ip
}

// A laptop in a train: no network but loopback.
func TestWithoutAnyNetwork(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may take the network away") //nolint:forbidigo // the kernel refuses a network namespace to others
	}
	// What this thread starts is in the new network, too.
	runtime.LockOSThread() // and not unlocked: the thread ends with the test
	require.NoError(t, unix.Unshare(unix.CLONE_NEWNET))
	loopback, err := netlink.LinkByName("lo")
	require.NoError(t, err)
	require.NoError(t, netlink.LinkSetUp(loopback))

	lab, err := labtest.New()
	require.NoError(t, err)
	defer func() { assert.NoError(t, lab.Remove()) }() // here, in this thread
	lab.Run(t, "up")
	expectPodRuns(t, lab, "offline")
	lab.Kubectl(t, "run", "sleeper", "--image=busybox", "--command", "--", "sleep", "1000")
	lab.Kubectl(t, "wait", "--for=condition=Ready", "pod/sleeper", labtest.TimeoutFlag)
	assert.Equal(t, "in\n", lab.Kubectl(t, "exec", "sleeper", "--", "echo", "in"))
	// As envtest starts it, without an address to announce, it asks only for what is
	// really missing here.
	bin, err := labtest.Binary()
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(bin), "kube-apiserver"), "--bind-address=127.0.0.1").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "--etcd-servers must be specified")
}

package faults

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/prometheus/procfs"
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
func listeners(t *testing.T, pid int) (ips []net.IP) {
	t.Helper()
	proc, err := procfs.NewDefaultFS()
	require.NoError(t, err)
	process, err := proc.Proc(pid)
	require.NoError(t, err)
	files, err := process.FileDescriptorTargets()
	require.NoError(t, err)
	four, err := proc.NetTCP() //nolint:staticcheck // netlink says the same, with a library more
	require.NoError(t, err)
	six, err := proc.NetTCP6() //nolint:staticcheck // netlink says the same, with a library more
	require.NoError(t, err)
	for _, line := range slices.Concat(four, six) {
		const listen = 0x0a
		if line.St == listen && slices.Contains(files, fmt.Sprintf("socket:[%d]", line.Inode)) {
			ips = append(ips, line.LocalAddr)
		}
	}
	return ips
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

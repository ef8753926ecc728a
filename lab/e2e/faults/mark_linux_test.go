package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// Whoever starts labs finds by their mark what they have left behind.
func TestEveryProcessOfALabHasItsMark(t *testing.T) {
	const mark, secret = "LAB_MARK=of this test", "SECRET=of the shell"
	lab := newLab(t)
	lab.Env = []string{mark, secret}
	lab.Run(t, "up")
	startSleeper(t, lab)
	ctx, cancel := context.WithCancel(t.Context())
	executed := make(chan struct{})
	go func() {
		defer close(executed)
		_, _ = lab.Command(ctx, "kubectl", "exec", "sleeper", "--", "sleep", "1001") // until the test ends
	}()
	defer func() { cancel(); <-executed }()

	labtest.Eventually(t, "each process has the mark", func(context.Context) error {
		found := map[string]bool{}
		for _, p := range descendants(t, supervisorPID(t, lab)) {
			args, _ := p.CmdLine()
			environ, err := p.Environ()
			if err != nil || len(args) == 0 {
				continue // it has ended
			}
			if !slices.Contains(environ, mark) {
				return fmt.Errorf("%q has not", args)
			}
			found[strings.Join(args, " ")] = true
			found[args[0]] = true
		}
		for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "lab-shim", "lab-exec", "sleep 1000", "sleep 1001"} {
			if !found[name] {
				return errors.New(name + " does not run yet")
			}
		}
		return nil
	})
	assert.NotContains(t, lab.Kubectl(t, "exec", "sleeper", "--", "env"), secret)
}

// descendants returns a process and all that descend from it.
func descendants(t *testing.T, pid int) procfs.Procs {
	t.Helper()
	all, err := procfs.AllProcs()
	require.NoError(t, err)
	children := map[int]procfs.Procs{}
	var found procfs.Procs
	for _, p := range all {
		if stat, err := p.Stat(); err == nil {
			children[stat.PPID] = append(children[stat.PPID], p)
		}
		if p.PID == pid {
			found = append(found, p)
		}
	}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].PID]...)
	}
	return found
}

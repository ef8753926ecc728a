package cli

import (
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

func TestWhyALabWillNotBecomeUsable(t *testing.T) {
	l, err := layout.New(t.TempDir())
	require.NoError(t, err)
	const pid = 12
	damaged := supervisor.ComponentState{Restarts: hopeless, Started: time.Now(), LastExit: "exit status 2"}
	of := func(name string, c supervisor.ComponentState) supervisor.State {
		return supervisor.State{PID: pid, Components: map[string]supervisor.ComponentState{name: c}}
	}
	for sentence, tc := range map[string]struct {
		pid    int
		state  supervisor.State
		unread error
		want   string
	}{
		"nothing is wrong":                 {pid: pid, state: of("etcd", supervisor.ComponentState{PID: 1})},
		"it has only just started":         {pid: pid, unread: fs.ErrNotExist},
		"the state is the one before's":    {pid: pid, state: supervisor.State{PID: 11, Stopping: true}},
		"the state is broken":              {pid: pid, unread: &atomicfile.BrokenError{}},
		"it is being stopped":              {pid, supervisor.State{PID: pid, Stopping: true}, nil, "another command stops the lab: lab down or lab reset"},
		"it was stopped":                   {0, supervisor.State{PID: pid, Stopping: true}, nil, "another command has stopped the lab, or its log says why: " + l.Log("supervisor")},
		"it was reset":                     {0, supervisor.State{}, fs.ErrNotExist, "another command stops the lab: lab down or lab reset"},
		"it was killed":                    {0, of("etcd", supervisor.ComponentState{}), nil, "the supervisor has ended (its log: " + l.Log("supervisor") + ")"},
		"it was killed, its state is lost": {0, supervisor.State{}, &atomicfile.BrokenError{}, "the supervisor has ended (its log: "},
		"a port is taken":                  {pid, of("etcd", supervisor.ComponentState{Taken: "port 1 is taken"}), nil, "etcd cannot run: port 1 is taken"},
		"the kubelet keeps ending":         {pid, of("kubelet", damaged), nil, "kubelet keeps ending (exit status 2); its log: " + l.Log("kubelet")},
		"etcd keeps ending": {pid, of("etcd", damaged), nil, "etcd keeps ending (exit status 2); its log: " + l.Log("etcd") +
			"; after a power cut its data may be damaged, and then you can only start afresh, without what was in the cluster: lab reset"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := diagnose(l, tc.pid, tc.state, tc.unread)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
}

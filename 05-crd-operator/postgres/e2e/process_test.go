package e2e

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
)

// signalAgent sends a signal to the agent in a pod.
func (e *env) signalAgent(pod types.UID, signal syscall.Signal) error {
	return e.signal(pod, processList.agent, signal)
}

// killPostgreSQL kills the first process of the PostgreSQL in a pod.
func (e *env) killPostgreSQL(pod types.UID) error {
	return e.signal(pod, processList.postgreSQL, syscall.SIGKILL)
}

// signal sends a signal to a process of a pod.
func (e *env) signal(pod types.UID, find func(processList, types.UID) (int, error), signal syscall.Signal) error {
	pid, err := e.pid(pod, find)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, signal)
}

func (e *env) pid(pod types.UID, find func(processList, types.UID) (int, error)) (int, error) {
	all, err := e.processes()
	if err != nil {
		return 0, err
	}
	return find(all, pod)
}

// freezeReceiver has the standby in a pod receive nothing, until it is thawed.
func (e *env) freezeReceiver(pod types.UID) (thaw func(), err error) {
	return e.freeze(pod, processList.receiver)
}

// freeze stops a process of a pod, until it is thawed.
func (e *env) freeze(pod types.UID, find func(processList, types.UID) (int, error)) (thaw func(), err error) {
	pid, err := e.pid(pod, find)
	if err != nil {
		return nil, err
	}
	thaw = func() {
		if err := syscall.Kill(pid, syscall.SIGCONT); !errors.Is(err, syscall.ESRCH) { // it may have been killed
			assert.NoError(e, err)
		}
	}
	return thaw, syscall.Kill(pid, syscall.SIGSTOP)
}

// process is one of this machine.
type process struct {
	pid, parent int
	line        string // of ps, with its arguments
}

type processList []process

func (e *env) processes() (processList, error) {
	list, err := exec.CommandContext(e.Context(), "ps", "-axww", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		return nil, err
	}
	var all processList
	for line := range strings.Lines(string(list)) {
		p := process{line: line}
		if _, err := fmt.Sscan(line, &p.pid, &p.parent); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (all processList) agent(pod types.UID) (int, error) { return all.one("--uid="+string(pod), 0) }

func (all processList) postgreSQL(pod types.UID) (int, error) {
	agent, err := all.agent(pod)
	if err != nil {
		return 0, err
	}
	return all.one("config_file=", agent)
}

func (all processList) receiver(pod types.UID) (int, error) {
	postgreSQL, err := all.postgreSQL(pod)
	if err != nil {
		return 0, err
	}
	return all.one("walreceiver", postgreSQL)
}

// one returns the only process with such arguments, among the children of a parent unless that is 0.
func (all processList) one(argument string, parent int) (int, error) {
	var found []int
	for _, p := range all {
		if strings.Contains(p.line, argument) && (parent == 0 || p.parent == parent) {
			found = append(found, p.pid)
		}
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("there are %d processes with %q", len(found), argument)
	}
	return found[0], nil
}

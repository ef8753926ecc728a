package member

import (
	"fmt"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// The times that a stop takes at most. See also the times of the Lease.
const (
	fastFor   = 2 * time.Second
	lastFor   = 20 * time.Second // when the cluster is deleted, and the last of the log is archived
	killAfter = time.Second
)

// process is a PostgreSQL that was started.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended, after err is set
	err  error
	// stopped is set when the agent ends it, so that it has not ended by itself.
	stopped atomic.Bool
}

// start starts postgres itself. pg_ctl would put it out of the reach of who kills the agent's
// process group.
func start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.SysProcAttr = endWithParent()
	started := make(chan error)
	go func() {
		// The kernel takes the end of the thread that has started a process for the end of
		// its parent. So that thread has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return p, nil
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stopFast has PostgreSQL roll back what is not committed, and send standbys all of its log.
// Clients that wait for a commit lose their connection: nobody may tell them that it is done.
func (p *process) stopFast(timeout time.Duration) {
	if p != nil && !p.signal(syscall.SIGINT, timeout) {
		p.stopImmediate()
	}
}

// stopImmediate ends PostgreSQL as a crash would, and returns when it has ended.
func (p *process) stopImmediate() {
	if p != nil && !p.signal(syscall.SIGQUIT, killAfter) {
		// It is frozen. Its own processes would notice that it is gone, but only when they next
		// wait for something; until then they write.
		killChildren(p.cmd.Process.Pid, killAfter/2)
		p.signal(syscall.SIGKILL, time.Minute)
	}
}

// signal sends a signal, and reports whether the process ended in time.
func (p *process) signal(signal syscall.Signal, timeout time.Duration) bool {
	p.stopped.Store(true)
	_ = p.cmd.Process.Signal(signal) // an error means that it has ended
	select {
	case <-p.done:
		return true
	case <-time.After(timeout):
		return false
	}
}

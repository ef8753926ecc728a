package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

// operatorProcess is an operator that is started again when it ends by itself, as a Deployment does: one
// that begins while the API server is away gives up.
type operatorProcess struct {
	command func() *exec.Cmd
	ended   chan struct{} // closed when it was told to end, and has

	mu      sync.Mutex
	process *os.Process
	last    bool  // it was told to end
	err     error // how it did
}

// startOperator starts this program as the operator of the namespace.
func (e *env) startOperator() {
	e.Helper()
	program, err := os.Executable()
	require.NoError(e, err)
	log, err := os.OpenFile(e.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(e, err)
	o := &operatorProcess{ended: make(chan struct{}), command: func() *exec.Cmd {
		c := exec.Command(program, "--kubeconfig", e.operatorKubeconfig(), "--namespace", e.namespace, "--image", e.image, "--service-type", "NodePort")
		c.Env = append(os.Environ(), asOperator+"=yes")
		c.Stdout, c.Stderr = log, log
		return c
	}}
	e.operator = o
	go func() {
		defer log.Close()
		o.run()
	}()
}

func (o *operatorProcess) run() {
	defer close(o.ended)
	for {
		command, err := o.start()
		if command == nil {
			return
		}
		if err == nil {
			err = command.Wait()
		}
		o.mu.Lock()
		if o.process = nil; o.last {
			o.err = err
		}
		o.mu.Unlock()
		<-time.After(pause) // as a Deployment does
	}
}

// start starts it, unless it was told to end.
func (o *operatorProcess) start() (command *exec.Cmd, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.last && !interrupted.Load() {
		command = o.command()
		err = command.Start()
		o.process = command.Process
	}
	return command, err
}

// signal sends a signal to it, which may be the last one.
func (o *operatorProcess) signal(signal os.Signal, last bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = o.last || last
	if o.process == nil {
		return os.ErrProcessDone
	}
	return o.process.Signal(signal)
}

// killOperator ends it with SIGKILL.
func (e *env) killOperator() {
	e.Helper()
	_ = e.operator.signal(syscall.SIGKILL, true) // an error says that it has ended
	<-e.operator.ended
	e.operator = nil
}

// stopOperator ends it as Ctrl-C does.
func (e *env) stopOperator() {
	e.Helper()
	if e.operator == nil {
		return
	}
	_ = e.operator.signal(syscall.SIGTERM, true)
	late := time.AfterFunc(testcluster.TestTimeout, func() { _ = e.operator.signal(syscall.SIGKILL, true) })
	defer late.Stop()
	<-e.operator.ended
	require.NoError(e, e.operator.err, "the operator's log:\n%s", e.operatorLog())
	for _, wrong := range []string{"DATA RACE", "panic: "} {
		assert.NotContains(e, e.operatorLog(), wrong)
	}
	e.operator = nil
}

func (e *env) logFile() string { return filepath.Join(e.folder, "operator.log") }

func (e *env) operatorLog() string {
	content, err := os.ReadFile(e.logFile())
	if err != nil {
		return err.Error()
	}
	return string(content)
}

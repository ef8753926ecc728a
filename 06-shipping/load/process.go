package load

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// endLimit is how long a process has to end by itself.
const endLimit = 30 * time.Second

// process is a program that runs until it is ended.
type process struct {
	command *exec.Cmd
	log     string        // the file of what it prints
	done    chan struct{} // closed when it has ended
}

// start starts a command, with more in its environment and the cluster's kubeconfig. Ctrl-C does not reach it.
func (c *cluster) start(name string, environment []string, command ...string) (*process, error) {
	p := &process{log: filepath.Join(filepath.Dir(c.dir), name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.command = exec.Command(command[0], command[1:]...)
	p.command.Env = append(c.environment(), environment...)
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() { _ = p.command.Wait(); close(p.done) }()
	return p, nil
}

// end sends a signal, and waits until the process has ended. One that does not is killed.
func (p *process) end(signal os.Signal) {
	_ = p.command.Process.Signal(signal)
	select {
	case <-p.done:
	case <-time.After(endLimit):
		_ = p.command.Process.Kill()
		<-p.done
	}
}

// tail is the end of its log: after stop, the file is gone.
func (p *process) tail() []byte {
	log, _ := os.ReadFile(p.log)
	return log[max(0, len(log)-2000):]
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

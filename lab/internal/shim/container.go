package shim

import (
	"encoding/json"
	"fmt"
	"os"
	filepath "path"
	"sync"
	"syscall"
	"time"
)

const (
	// endGrace is how long a container may take to end when the lab ends.
	endGrace = 2 * time.Second
	// drainPatience is how long the shim reads on after the last process ended.
	drainPatience = 2 * time.Second
)

// startErrorCode is the exit code of a container that could not be started.
const startErrorCode = 128

// container is the one this process is the shim of.
type container struct {
	dir  string
	spec *Spec
	log  *logFile
	main target

	master *os.File       // of the terminal, if it has one
	stdin  *os.File       // keeps the FIFO open for writing until close-stdin
	output sync.WaitGroup // the copying of output into the log
}

// target is what gets the container's signals.
type target interface {
	signal(syscall.Signal)
	signalGroup(syscall.Signal)
	wait() int
}

// runContainer is the main function of lab-shim. It returns the container's exit
// code, for a kubelet that finds no record of it: the disk may be full.
func runContainer(args []string) int {
	c := &container{dir: args[0]}
	// Held until this process ends, which is what it is for. An os.File would not do: the
	// garbage collector closes one that nothing refers to any more.
	_, err := syscall.Open(filepath.Join(c.dir, LifeFIFO), syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err == nil {
		err = c.start()
	}
	if err != nil {
		c.exit(Exit{Code: startErrorCode, At: time.Now(), Reason: "StartError", Message: err.Error()})
		report(err)
		return 1
	}
	onEnd(func() {
		c.main.signalGroup(syscall.SIGTERM)
		time.Sleep(endGrace)
		c.main.signalGroup(syscall.SIGKILL)
		time.Sleep(killPatience)
		os.Exit(128 + int(syscall.SIGKILL))
	})
	report(nil)

	code := c.main.wait()
	e := Exit{Code: code, At: time.Now(), Reason: "Completed"}
	if code != 0 {
		e.Reason = "Error"
	}
	c.drain()
	c.exit(e)
	return code
}

func (c *container) start() error {
	var err error
	if c.spec, err = ReadFile[Spec](c.dir, SpecFile); err != nil {
		return err
	}
	if c.log, err = openLog(c.spec.LogPath); err != nil {
		return err
	}
	if c.spec.Pause {
		c.main = newPause()
	} else if c.main, err = c.startMain(); err != nil {
		return err
	}
	if err := c.serveControl(); err != nil {
		return err
	}
	s := Started{PID: os.Getpid(), At: time.Now()}
	if p, ok := c.main.(*process); ok {
		s.PID = p.pid
	}
	if err := WriteFile(c.dir, StartedFile, s); err != nil {
		fmt.Fprintln(os.Stderr, "recording the start:", err) // it runs all the same
	}
	return nil
}

// startMain starts the main process with its standard streams.
func (c *container) startMain() (target, error) {
	open := c.openPipes
	if c.spec.Terminal {
		open = c.openTerminal
	}
	files, err := open()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(c.dir, c.spec, files)
	for _, f := range files {
		_ = f.Close() // our copies: the output ends when the container closes its own
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// drain waits for the rest of the output, which is all in pipes now.
func (c *container) drain() {
	done := make(chan struct{})
	go func() {
		c.output.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(drainPatience):
	}
}

func (c *container) exit(e Exit) {
	if err := WriteFile(c.dir, ExitFile, e); err != nil {
		fmt.Fprintln(os.Stderr, "recording the exit code:", err)
	}
}

// report tells the process that started this one how that went.
func report(err error) {
	var r Report
	if err != nil {
		r.Error = err.Error()
	}
	pipe := os.NewFile(SyncFD, "sync")
	_ = json.NewEncoder(pipe).Encode(r) // nobody listens any more: nothing to do
	_ = pipe.Close()
}

package shim

import (
	"os"
	"syscall"
	"time"
)

// runExec is the main function of lab-exec: it runs a command beside the
// container's process, for kubectl exec, probes and lifecycle hooks.
//
// Usually one joins the namespaces of the container. A program in Go cannot:
// joining a user namespace is refused to a process that has threads. So lab-exec
// is started in new namespaces and builds the same view there, from the same
// directories: a file written here is seen there.
func runExec(args []string) int {
	dir, tty, command := args[0], args[1] == "tty", args[2:]
	spec, err := ReadFile[Spec](dir, SpecFile)
	if err != nil {
		report(err)
		return startErrorCode
	}
	spec.Args, spec.Terminal = command, tty
	if tty && getenv(spec.Env, "TERM") == "" {
		spec.Env = append(spec.Env, "TERM=xterm")
	}
	streams := []*os.File{os.Stdin, os.Stdout, os.Stderr}
	p, err := startProcess(dir, spec, streams)
	if err != nil {
		report(err)
		return startErrorCode
	}
	// Keep no copy of the streams: their other ends must see when they close.
	for _, f := range streams {
		_ = f.Close()
	}
	onEnd(func() {
		p.signalGroup(syscall.SIGKILL)
		time.Sleep(killPatience)
		os.Exit(1)
	})
	report(nil)
	return p.wait()
}

// runProbe is the main function of lab-probe.
func runProbe(args []string) int {
	dir := args[0]
	spec, err := ReadFile[Spec](dir, SpecFile)
	if err == nil {
		_, _, err = enterView(dir, spec)
	}
	report(err)
	if err != nil {
		return 1
	}
	return 0
}

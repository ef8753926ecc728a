package shim

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	filepath "path"
	"sync"
	"syscall"
	"time"
)

// killPatience bounds the wait for processes that were sent SIGKILL. Only one
// that hangs in the kernel needs longer.
const killPatience = 5 * time.Second

// process is a container's main process.
type process struct {
	pid int

	mu   sync.Mutex
	gone bool
}

// startProcess starts args, with the three files as its standard streams. It
// must be called from the main goroutine, see the package comment.
func startProcess(dir string, spec *Spec, files []*os.File) (*process, error) {
	root, cwd, err := enterView(dir, spec)
	if err != nil {
		return nil, err
	}
	name := spec.Args[0]
	path, err := program(root, cwd, spec)
	if err != nil {
		return nil, err
	}
	attr := &syscall.ProcAttr{Dir: cwd, Env: spec.Env, Sys: processAttr(spec)}
	if root != "/" {
		attr.Sys.Chroot = root
	}
	for _, f := range files {
		attr.Files = append(attr.Files, f.Fd())
	}
	if spec.Terminal {
		attr.Sys.Setsid, attr.Sys.Setctty, attr.Sys.Ctty = true, true, 0
	} else {
		attr.Sys.Setpgid = true
	}
	if spec.User != nil {
		attr.Sys.Credential = &syscall.Credential{Uid: spec.User.UID, Gid: spec.User.GID, Groups: spec.User.Groups}
	}
	if err := becomeReaper(); err != nil {
		return nil, err
	}
	pid, _, err := syscall.StartProcess(path, spec.Args, attr)
	if err != nil {
		return nil, fmt.Errorf("exec: %q: %w", name, err)
	}
	return &process{pid: pid}, nil
}

// program finds what the container runs.
func program(root, cwd string, spec *Spec) (string, error) {
	if spec.Self {
		return Self(), nil
	}
	path, err := lookPath(root, cwd, spec.Args[0], spec.Env)
	if err == nil && spec.Shell != "" && !spec.View && (path == "/bin/sh" || path == "/usr/bin/sh") {
		path = spec.Shell
	}
	return path, err
}

// enterView makes the container's files visible and returns its root directory
// and, as seen from there, its working directory.
func enterView(dir string, spec *Spec) (root, cwd string, err error) {
	cwd = cmp.Or(spec.Cwd, "/")
	if !spec.View {
		return "/", cwd, checkDir("/", cwd)
	}
	root = filepath.Join(dir, RootDir)
	if err := buildView(dir, spec); err != nil {
		return "", "", err
	}
	return root, cwd, checkDir(root, cwd)
}

// checkDir reports a missing working directory by its name: the error of the
// system call that starts a process does not say what is missing.
func checkDir(root, cwd string) error {
	resolved, err := Resolve(root, cwd)
	if err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(root, resolved))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("changing to the working directory %q: %w", cwd, syscall.ENOENT)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("changing to the working directory %q: %w", cwd, syscall.ENOTDIR)
	}
	return nil
}

// signal sends a signal to the main process only, as a kubelet wants it.
func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		_ = syscall.Kill(p.pid, sig)
	}
}

// signalGroup sends a signal to the main process and those it started, except
// for those that left its group.
func (p *process) signalGroup(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		_ = syscall.Kill(-p.pid, sig)
	}
}

// wait returns the exit code of the main process, 128+n after signal n. By then
// all its descendants are gone, too.
func (p *process) wait() int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR || err == nil && pid != p.pid {
			continue // an orphan that was left to us
		}
		p.mu.Lock()
		p.gone = true
		p.mu.Unlock()
		p.killRest()
		switch {
		case err != nil:
			return 128 + int(syscall.SIGKILL)
		case status.Signaled():
			return 128 + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}

// killRest kills what the main process left behind. Killing a process hands its
// children to us, so this is repeated until there is none.
func (p *process) killRest() {
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	for deadline := time.Now().Add(killPatience); time.Now().Before(deadline); {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case err == syscall.ECHILD:
			return
		case pid > 0 || err == syscall.EINTR:
			continue
		}
		for _, child := range children() {
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, "some process of the container cannot be killed")
}

// onEnd calls f when the inherited lifeline ends.
func onEnd(f func()) {
	line := os.NewFile(LifelineFD, "lifeline")
	go func() {
		_, _ = line.Read(make([]byte, 1)) // nobody writes to it
		f()
	}()
}

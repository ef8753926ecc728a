package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// isolation is how much of a container's surroundings are its own.
type isolation int

const (
	noIsolation    isolation = iota // none: it sees the host's files
	mountNamespace                  // its files; takes root
	userNamespace                   // its files and user; takes no rights
)

// probe finds out what the kernel allows, by trying it.
func (s *Service) probe(ctx context.Context) (isolation, error) {
	dir := filepath.Join(s.options.Root, "probe")
	if err := os.MkdirAll(filepath.Join(dir, shim.RootDir), 0o755); err != nil {
		return noIsolation, err
	}
	defer os.RemoveAll(dir)
	spec := shim.Spec{Hostname: "probe", View: true, HostFiles: true, Mounts: []shim.Mount{{Source: dir, Target: "/var/lib/lab-probe/here", ReadOnly: true}}}
	if err := shim.WriteFile(dir, shim.SpecFile, spec); err != nil {
		return noIsolation, err
	}
	var why error
	for _, i := range candidates() {
		cmd := i.command(ctx, shim.ProbeName, &shim.User{}, dir)
		p, err := s.start(cmd, s.options.Lifeline)
		if err == nil {
			err = errors.Join(p.report, cmd.Wait())
		}
		if err == nil {
			s.noteIsolation(i, nil)
			return i, nil
		}
		why = err
	}
	s.noteIsolation(noIsolation, why)
	return noIsolation, nil
}

// command prepares this program to run once more, as the shim of a container
// that belongs to user.
func (i isolation) command(ctx context.Context, name string, user *shim.User, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, self())
	cmd.Args = append([]string{name}, args...)
	cmd.Env = []string{"GOMAXPROCS=2", shim.NamespacesEnv + "=" + shim.Namespaces()}
	if mark := os.Getenv(MarkEnv); mark != "" {
		cmd.Env = append(cmd.Env, MarkEnv+"="+mark)
	}
	cmd.Dir = "/"
	cmd.SysProcAttr = i.attr(user)
	return cmd
}

// started is a process in the role of a shim.
type started struct {
	report error // why it could not start its command
}

// start starts a shim and waits until it has started its command, or could not.
// In the second case the shim is about to end. Either way the caller waits for it.
func (s *Service) start(cmd *exec.Cmd, lifeline *os.File, terminal ...*os.File) (started, error) {
	alive := s.options.Alive
	if alive == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return started{}, err
		}
		defer null.Close()
		alive = null
	}
	r, w, err := os.Pipe()
	if err != nil {
		return started{}, err
	}
	defer r.Close()
	cmd.ExtraFiles = append([]*os.File{lifeline, alive, w}, terminal...)
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return started{}, fmt.Errorf("starting a shim: %w", err)
	}
	var report shim.Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the shim ended early (its log is shim.log in the container's directory)")
		}
		return started{report: err}, nil
	}
	if report.Error != "" {
		return started{report: errors.New(report.Error)}, nil
	}
	return started{}, nil
}

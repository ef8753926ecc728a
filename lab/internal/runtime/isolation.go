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
	found := possible()
	if found == noIsolation {
		s.noteIsolation(noIsolation, nil)
		return noIsolation, nil
	}
	dir := filepath.Join(s.options.Root, "probe")
	if err := os.MkdirAll(filepath.Join(dir, shim.RootDir), 0o755); err != nil {
		return noIsolation, err
	}
	defer os.RemoveAll(dir)
	spec := shim.Spec{Hostname: "probe", View: true, HostFiles: true, Mounts: []shim.Mount{{Source: dir, Target: "/var/lib/lab-probe/here", ReadOnly: true}}}
	if err := shim.WriteFile(dir, shim.SpecFile, spec); err != nil {
		return noIsolation, err
	}
	cmd := found.command(ctx, shim.ProbeName, &shim.User{}, dir)
	report, err := s.start(cmd, s.options.Lifeline)
	if err == nil {
		err = errors.Join(report, cmd.Wait())
	}
	if err != nil {
		found = noIsolation
	}
	s.noteIsolation(found, err)
	return found, nil
}

// command prepares this program to run once more, as the shim of a container
// that belongs to user.
func (i isolation) command(ctx context.Context, name string, user *shim.User, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, shim.Self())
	cmd.Args = append([]string{name}, args...)
	cmd.Env = []string{"GOMAXPROCS=2", shim.NamespacesEnv + "=" + shim.Namespaces()}
	if mark := os.Getenv(MarkEnv); mark != "" {
		cmd.Env = append(cmd.Env, MarkEnv+"="+mark)
	}
	cmd.Dir = "/"
	cmd.SysProcAttr = i.attr(user)
	return cmd
}

// start starts a shim and waits until it has started its command, or could not: report then says
// why, and the shim is about to end. Either way the caller waits for it.
func (s *Service) start(cmd *exec.Cmd, lifeline *os.File, terminal ...*os.File) (report, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.ExtraFiles = append([]*os.File{lifeline, s.options.Alive, w}, terminal...)
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, fmt.Errorf("starting a shim: %w", err)
	}
	var said shim.Report
	switch err := json.NewDecoder(r).Decode(&said); {
	case errors.Is(err, io.EOF):
		report = errors.New("the shim ended early (its log is shim.log in the container's directory)")
	case err != nil:
		report = err
	case said.Error != "":
		report = errors.New(said.Error)
	}
	return report, nil
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// changePatience bounds all that measureChange does; KWOK may have to be compiled.
const changePatience = 20 * time.Minute

// plugin is the file with the line that is changed: the scores of the nodes are reversed, so that
// pods which start at the same time are packed, where they were spread.
const (
	plugin = "scheduler/spreadstarts/spreadstarts.go"
	before = "DefaultNormalizeScore(fwk.MaxScore, true,"
	after  = "DefaultNormalizeScore(fwk.MaxScore, false,"
)

// measureChange measures how long it takes from a changed line in the scheduler's plug-in until the
// scheduler that the kubelet runs decides accordingly.
func measureChange(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, changePatience)
	defer cancel()
	fmt.Printf("A changed line in the scheduler's plug-in\n\n")
	lab, err := labtest.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Remove()) }()
	if out, err := lab.Command(ctx, "up", "--static-pods"); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	s, err := newSession(lab)
	if err != nil {
		return err
	}
	stop, err := s.simulateNodes(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if _, err := s.roll(ctx, "kube-scheduler:before", 4); err != nil {
		return err
	}
	if err := s.changeLine(); err != nil {
		return err
	}
	took, err := s.roll(ctx, "kube-scheduler:after", 1)
	if err != nil {
		return err
	}
	fmt.Printf("\n%.1f s in all (at most %s)\n", took.Seconds(), maxChange)
	if took > maxChange {
		return fmt.Errorf("from a changed line to the new decision it takes %s, not %s", took, maxChange)
	}
	return nil
}

// session runs commands with one lab selected, in the folder of the lab's module.
type session struct {
	lab        *labtest.Lab
	dir        string // for what is made
	kubeconfig string
	env        []string
}

func newSession(lab *labtest.Lab) (*session, error) {
	binary, err := labtest.Binary()
	if err != nil {
		return nil, err
	}
	s := &session{lab: lab, dir: filepath.Dir(lab.Dir), kubeconfig: filepath.Join(lab.Dir, "kubeconfig")}
	s.env = append(os.Environ(), "GOWORK=off", "LAB_DIR="+lab.Dir, "KUBECONFIG="+s.kubeconfig, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	return s, nil
}

func (s *session) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = s.env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func (s *session) run(ctx context.Context, args ...string) (string, error) {
	var out, errOut bytes.Buffer
	cmd := s.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, errOut.String())
	}
	return out.String(), nil
}

// simulateNodes starts KWOK and creates its nodes.
func (s *session) simulateNodes(ctx context.Context) (stop func(), err error) {
	program := filepath.Join(s.dir, "kwok")
	if _, err := s.run(ctx, "go", "-C", "../tools/pinned/kwok", "build", "-o", program, "sigs.k8s.io/kwok/cmd/kwok"); err != nil {
		return nil, err
	}
	kwok := s.command(ctx, program, "--kubeconfig="+s.kubeconfig, "--config=scheduler/kwok.yaml", "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-lease-duration-seconds=40")
	if err := kwok.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = kwok.Process.Signal(syscall.SIGTERM)
		_ = kwok.Wait()
	}
	_, err = s.lab.Command(ctx, "kubectl", "apply", "-f", "scheduler/nodes.yaml")
	if err == nil {
		_, err = s.lab.Command(ctx, "kubectl", "wait", "node", "-l", "type=kwok", "--for=condition=Ready", "--timeout=60s")
	}
	if err != nil {
		stop()
	}
	return stop, err
}

// roll builds an image of the scheduler, puts it in place, and starts a burst of pods. It must go to
// so many nodes.
func (s *session) roll(ctx context.Context, image string, nodes int) (time.Duration, error) {
	archive := filepath.Join(s.dir, "image.tar")
	fmt.Printf("| %s | |\n|---|---|\n", image)
	began := time.Now()
	var out string
	for _, phase := range []struct {
		name string
		do   func() (string, error)
	}{
		{"build the image", func() (string, error) { return s.run(ctx, "go", "run", "./image", "./scheduler", image, archive) }},
		{"load it", func() (string, error) { return s.lab.Command(ctx, "load", archive) }},
		{"change the manifest", func() (string, error) { return s.run(ctx, "sh", "scheduler/place.sh", image) }},
		{"wait until the kubelet runs it", func() (string, error) { return "", s.waitRunning(ctx, image) }},
		{"place twelve pods", func() (string, error) { return s.run(ctx, "sh", "scheduler/burst.sh", "spread-starts") }},
	} {
		since := time.Now()
		var err error
		if out, err = phase.do(); err != nil {
			return 0, err
		}
		fmt.Printf("| %s | %.1f s |\n", phase.name, time.Since(since).Seconds())
	}
	if strings.Count(out, "\n") != nodes {
		return 0, fmt.Errorf("the pods did not go to %d nodes:\n%s", nodes, out)
	}
	return time.Since(began), nil
}

// waitRunning waits until there is a container of the image.
func (s *session) waitRunning(ctx context.Context, image string) error {
	for {
		out, err := s.lab.Command(ctx, "crictl", "ps")
		if err != nil || strings.Contains(out, image) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// changeLine has Go read another file in the place of the plug-in, which compiles exactly as if the
// file itself had changed.
func (s *session) changeLine() error {
	source, err := os.ReadFile(plugin)
	if err != nil {
		return err
	}
	if !bytes.Contains(source, []byte(before)) {
		return fmt.Errorf("%s has no line with %q", plugin, before)
	}
	changed, overlay := filepath.Join(s.dir, "plugin.go"), filepath.Join(s.dir, "overlay.json")
	if err := os.WriteFile(changed, bytes.Replace(source, []byte(before), []byte(after), 1), 0o600); err != nil {
		return err
	}
	path, err := filepath.Abs(plugin)
	if err != nil {
		return err
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return err
	}
	s.env = append(s.env, "GOFLAGS='-overlay="+overlay+"'")
	return os.WriteFile(overlay, content, 0o600)
}

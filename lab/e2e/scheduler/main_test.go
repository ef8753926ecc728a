// Package scheduler tests the scheduler of lab/scheduler in a lab, with nodes that KWOK
// simulates.
//
// All tests share one lab, its KWOK and its nodes, one after the other. Each starts a
// scheduler with a configuration of its own.
package scheduler

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// sources is the folder of the scheduler, relative to this one.
const sources = "../../scheduler"

var (
	// lab is started once for all tests.
	lab *labtest.Lab
	// program is the scheduler.
	program string
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if lab, err = labtest.New(); err != nil {
		return 1, err
	}
	defer func() {
		if removeErr := lab.Remove(); err == nil {
			err = removeErr
		}
	}()
	if err := readSources(); err != nil {
		return 1, err
	}
	ctx := context.Background()
	if out, err := lab.Command(ctx, "up"); err != nil {
		return 1, fmt.Errorf("%w\n%s", err, out)
	}
	program = filepath.Join(filepath.Dir(lab.Dir), "kube-scheduler")
	if _, err := output(ctx, "go", "build", "-o", program, sources); err != nil {
		return 1, err
	}
	kwok, err := output(ctx, "go", "-C", "../../../tools/pinned/kwok", "tool", "-n", "kwok")
	if err != nil {
		return 1, err
	}
	stop, err := start(ctx, kwok,
		"--kubeconfig="+kubeconfig(), "--config="+filepath.Join(sources, "kwok.yaml"),
		"--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-lease-duration-seconds=40", "--v=WARN")
	if err != nil {
		return 1, err
	}
	defer func() {
		if log := stop(); code != 0 {
			fmt.Fprintf(os.Stderr, "KWOK printed:\n%s\n", log)
		}
	}()
	for _, args := range [][]string{
		{"apply", "-f", filepath.Join(sources, "nodes.yaml")},
		{"wait", "node", "-l", "type=kwok", "--for=condition=Ready", labtest.TimeoutFlag},
	} {
		if _, err := lab.Command(ctx, append([]string{"kubectl"}, args...)...); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// readSources lets Go's test cache see what these tests are of: it notices what a test itself
// reads, and not what the programs do that it starts.
func readSources() error {
	return filepath.WalkDir(sources, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			_, err = os.ReadFile(path)
		}
		return err
	})
}

func kubeconfig() string { return filepath.Join(lab.Dir, "kubeconfig") }

// output runs a program and returns what it printed.
func output(ctx context.Context, program string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, program, args...)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, &complaint)
	}
	return strings.TrimSpace(string(out)), nil
}

// start starts a program. The function that it returns ends it and returns what it printed.
func start(ctx context.Context, program string, args ...string) (stop func() string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	command := exec.CommandContext(ctx, program, args...)
	var log bytes.Buffer
	command.Stdout, command.Stderr = &log, &log
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second // then it is killed
	if err := command.Start(); err != nil {
		cancel()
		return nil, err
	}
	return func() string {
		cancel()
		_ = command.Wait() // it was ended, so this is an error
		return log.String()
	}, nil
}

// Package scheduler tests the scheduler of ../scheduler in a lab, with nodes that KWOK
// simulates.
//
// All tests share one lab, its KWOK and its nodes, one after the other. Each starts a
// scheduler with a configuration of its own.
package scheduler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sources is the folder of the scheduler, relative to this one.
const sources = "../scheduler"

var (
	// cluster is started once for all tests.
	cluster *lab
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
	// test-env.sh has built both.
	program = os.Getenv("SCHEDULER")
	kwok := os.Getenv("KWOK")
	if program == "" || kwok == "" {
		return 1, errors.New("these tests need the scheduler in SCHEDULER and KWOK in KWOK: run `make test-heavy` at the root of the repository, which builds both")
	}
	if cluster, err = newLab(); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cluster.remove()) }()
	ctx := context.Background()
	if _, err := cluster.command(ctx, "up"); err != nil {
		return 1, err
	}
	stop, err := start(ctx, kwok,
		"--kubeconfig="+cluster.kubeconfig(), "--config="+filepath.Join(sources, "kwok.yaml"),
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
		{"wait", "node", "-l", "type=kwok", "--for=condition=Ready", timeoutFlag},
	} {
		if _, err := cluster.command(ctx, append([]string{"kubectl"}, args...)...); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// readSources lets Go's test cache see what these tests are of: it notices what a test itself
// reads, and not what the programs do that it starts. Those are the scheduler, and all in
// TEST_INPUTS. What TestMain reads before m.Run is not noticed.
func readSources(t *testing.T) {
	t.Helper()
	_, _ = os.Getenv("TEST_INPUTS"), os.Getenv("LAB_INPUTS")
	require.NoError(t, filepath.WalkDir(sources, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			_, err = os.ReadFile(path)
		}
		return err
	}))
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

package scheduler

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// testTimeout is how long tests wait for what has to come. TEST_TIMEOUT sets another one.
var testTimeout = readTimeout()

// timeoutFlag makes kubectl wait as long as a test does.
var timeoutFlag = "--timeout=" + testTimeout.String()

// pause is between two checks of a condition.
const pause = 100 * time.Millisecond

func readTimeout() time.Duration {
	timeout, err := time.ParseDuration(cmp.Or(os.Getenv("TEST_TIMEOUT"), "2m"))
	if err != nil {
		panic(fmt.Sprintf("reading TEST_TIMEOUT: %v", err))
	}
	return timeout
}

// A lab is driven as a user drives it, by its commands.
type lab struct {
	program string
	dir     string // that it writes to
}

// newLab makes a folder for a lab and starts nothing.
func newLab() (*lab, error) {
	program := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "lab")
	if _, err := os.Stat(program); err != nil {
		return nil, errors.New("these tests need the lab: run `make lab`, then `make test-heavy`, at the root of the repository")
	}
	parent, err := os.MkdirTemp("", "scheduler test ")
	if err != nil {
		return nil, err
	}
	return &lab{program: program, dir: filepath.Join(parent, "lab")}, nil
}

// remove stops the lab and deletes its folder.
func (l *lab) remove() error {
	_, err := l.command(context.Background(), "reset")
	return errors.Join(err, os.RemoveAll(filepath.Dir(l.dir)))
}

func (l *lab) kubeconfig() string { return filepath.Join(l.dir, "kubeconfig") }

// command runs a command of the lab, and returns what it prints.
func (l *lab) command(ctx context.Context, args ...string) (string, error) {
	// Twice: `lab up` and kubectl give up by themselves, with a better message.
	ctx, cancel := context.WithTimeout(ctx, 2*testTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, l.program, append([]string{"--dir", l.dir}, args...)...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	// As Ctrl-C does: the command then says what it was waiting for.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 5 * time.Second
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("lab %s: %w: %s", strings.Join(args, " "), err, &stderr)
	}
	return stdout.String(), nil
}

// client has the rights of the administrator.
func (l *lab) client(t *testing.T) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	config.QPS = -1
	config.Timeout = testTimeout
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// eventually waits until check returns nil, and fails with its last error.
func eventually(t *testing.T, limit time.Duration, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			require.FailNow(t, "waiting until "+what, "after %s: %v", limit, err)
		case <-time.After(pause):
		}
	}
}

// Package labtest starts a lab for a test, with the binary that `make lab`
// built, and drives it as a user would: by its commands.
package labtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/lab/internal/testenv"
)

var testTimeout = testenv.Timeout()

// TimeoutFlag makes kubectl wait as long as a test does.
var TimeoutFlag = "--timeout=" + testTimeout.String()

// tick is how often a condition is checked.
const tick = 100 * time.Millisecond

// Lab is a lab in a folder of its own.
type Lab struct {
	// Dir is the folder that the lab writes to.
	Dir string
	// Program is run instead of [Binary], if it is set.
	Program string
	// Env is added to the environment of every command.
	Env []string
	// Attributes, if set, are those of every command's process.
	Attributes *syscall.SysProcAttr
}

// New makes a folder for a lab and starts nothing. The folder's name holds a
// space, because the name of a clone may.
func New() (*Lab, error) {
	parent, err := os.MkdirTemp("", "lab test ")
	if err != nil {
		return nil, err
	}
	return &Lab{Dir: filepath.Join(parent, "lab")}, nil
}

// Binary returns the path of the lab's binary.
func Binary() (string, error) {
	testenv.ReadInputs()
	_, file, _, _ := runtime.Caller(0)
	binary := filepath.Join(filepath.Dir(file), "..", "..", "bin", "lab")
	if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the lab is not built: run `make lab` first")
	}
	return binary, nil
}

// Remove stops the lab and deletes its folder.
func (l *Lab) Remove() error {
	_, err := l.Command(context.Background(), "reset")
	return errors.Join(err, os.RemoveAll(filepath.Dir(l.Dir)))
}

// Command runs a command of the lab and returns what it printed to standard
// output. The error holds what it printed to standard error.
func (l *Lab) Command(ctx context.Context, args ...string) (string, error) {
	// Twice: `lab up` and kubectl give up by themselves, with a better message.
	ctx, cancel := context.WithTimeout(ctx, 2*testTimeout)
	defer cancel()
	program := l.Program
	if program == "" {
		var err error
		if program, err = Binary(); err != nil {
			return "", err
		}
	}
	args = append([]string{"--dir", l.Dir}, args...)
	if slices.Contains(args, "up") { // its own three minutes, or more where tests have more
		args = append(args, "--timeout="+max(3*time.Minute, testTimeout*3/2).String())
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), l.Env...)
	cmd.SysProcAttr = l.Attributes
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	// Ctrl-C, not a kill: the commands then say what they were waiting for.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("lab %s: %w: %s", strings.Join(args, " "), err, errOut.String())
	}
	return out.String(), nil
}

// Run runs a command of the lab that must succeed.
func (l *Lab) Run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := l.Command(t.Context(), args...)
	require.NoError(t, err, out)
	return out
}

// Kubectl runs kubectl, which must succeed.
func (l *Lab) Kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return l.Run(t, append([]string{"kubectl"}, args...)...)
}

// Config returns the administrator's configuration.
func (l *Lab) Config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(l.Dir, "kubeconfig"))
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.Timeout = testTimeout
	return config, nil
}

// Client returns a client with the administrator's rights.
func (l *Lab) Client(t *testing.T) kubernetes.Interface {
	t.Helper()
	config, err := l.Config()
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// Eventually waits until check returns nil, and fails with its last error.
func Eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			require.FailNow(t, "waiting until "+what, "after %s: %v", testTimeout, err)
		case <-time.After(tick):
		}
	}
}

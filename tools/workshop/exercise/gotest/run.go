package gotest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"example.com/hacking-a-controller/tools/workshop/process"
)

// A Module is a Go module whose tests are run.
type Module struct {
	Dir string
	// Assets is the folder of the API server for the tests, unless the variable
	// KUBEBUILDER_ASSETS names another.
	Assets string
	// Wait is how long a test may wait for one thing, unless the variable TEST_TIMEOUT says
	// it, or it is 0. A test that is to fail waits in vain, so here it is short.
	Wait time.Duration
	// Slow is told every ten seconds what a run is doing, if it is not nil.
	Slow func(after time.Duration, doing string)
	// Variables are more of the environment, such as NAME=value.
	Variables []string
	// Flags are more of go test and go vet, such as -tags=try.
	Flags []string
}

// AssetsFolder returns the folder of the API server.
func (m Module) AssetsFolder() string { return cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), m.Assets) }

// MissingAssets returns a sentence if there is no API server for the tests. Not all
// of them need one, so it is for the user to judge.
func (m Module) MissingAssets() string {
	if os.Getenv("KUBEBUILDER_ASSETS") != "" {
		return ""
	}
	if _, err := os.Stat(filepath.Join(m.Assets, "kube-apiserver")); err == nil {
		return ""
	}
	return "The lab is not built: a test that needs an API server fails until you run `make lab`."
}

// testTimeout is what go test gives the tests of a package. It is the same for everybody
// who calls Test, because Go's cache takes tests with another one for other tests.
const testTimeout = "-timeout=20m"

// Test runs go test -json with more arguments. That tests fail is in the report and
// not an error. The paths of packages in it are relative to the module.
func (m Module) Test(ctx context.Context, args ...string) (*Report, error) {
	goMod, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("reading the name of the module: %w", err)
	}
	path := modfile.ModulePath(goMod)
	name, all, environment := m.testCommand(slices.Concat(m.Flags, args))
	command, end := m.command(ctx, name, all...)
	defer end()
	command.Env = append(command.Env, environment...)
	if !slices.Contains(args, "-count=1") { // which Go's cache never answers
		inputs, err := m.Inputs(ctx)
		if err != nil {
			return nil, err
		}
		test, lab, _ := strings.Cut(inputs, " ")
		command.Env = append(command.Env, "TEST_INPUTS="+test, "LAB_INPUTS="+lab)
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	beat := beginHeartbeat(10*time.Second, m.Slow)
	defer beat.end()
	report, err := follow(command, func(event Event) {
		if event.Action == "run" {
			beat.doing(event.Test + " runs")
		}
	})
	if report == nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if report == nil {
		return nil, fmt.Errorf("running go test: %w", saying(err, stderr.String()))
	}
	for _, p := range report.Packages {
		p.Path = relative(path, p.Path)
	}
	if ctx.Err() != nil {
		return report, context.Cause(ctx)
	}
	if err != nil && len(report.Packages) == 0 {
		return nil, fmt.Errorf("running go test: %w", saying(err, stderr.String()))
	}
	return report, nil
}

// follow runs the command and reads its events meanwhile. The error is the command's.
func follow(command *exec.Cmd, saw func(Event)) (*Report, error) {
	// Not the command's own pipe: reading that would wait for whoever inherited it.
	reader, writer := io.Pipe()
	command.Stdout = writer
	if err := command.Start(); err != nil {
		return nil, err
	}
	reports := make(chan *Report, 1)
	go func() {
		report, _ := Read(reader, saw) // the other end never closes it with an error
		reports <- report
	}()
	err := command.Wait()
	_ = writer.Close()
	return <-reports, err
}

// Vet runs go vet. Its error holds what is wrong.
func (m Module) Vet(ctx context.Context, patterns ...string) error {
	_, err := m.runGo(ctx, slices.Concat([]string{"vet"}, m.Flags, patterns)...)
	return err
}

func relative(module, path string) string {
	if path == module {
		return "."
	}
	if below, ok := strings.CutPrefix(path, module+"/"); ok {
		return "./" + below
	}
	return path
}

// runGo runs the go command in the module and returns what it prints.
func (m Module) runGo(ctx context.Context, args ...string) (string, error) {
	return m.run(ctx, m.Dir, "go", args...)
}

func (m Module) run(ctx context.Context, dir, name string, args ...string) (string, error) {
	command, end := m.command(ctx, name, args...)
	defer end()
	command.Dir = dir
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, args[0], saying(err, stderr.String()))
	}
	return stdout.String(), nil
}

// command prepares a command in the module. When the context ends, it is killed with the
// programs that it started; end kills what these have left behind.
func (m Module) command(ctx context.Context, name string, args ...string) (command *exec.Cmd, end func()) {
	command = process.Command(ctx, name, args...)
	command.Dir = m.Dir
	command.Env = process.Environment(nil, "GOWORK=off", "KUBEBUILDER_ASSETS="+m.AssetsFolder())
	if m.Wait > 0 && os.Getenv("TEST_TIMEOUT") == "" {
		command.Env = append(command.Env, "TEST_TIMEOUT="+m.Wait.String())
	}
	command.Env = append(command.Env, m.Variables...)
	command.WaitDelay = 5 * time.Second // for a pipe that somebody else still holds
	return command, process.NewMark(command).Kill
}

func saying(err error, stderr string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("go is not installed, or not in PATH")
	}
	if text := strings.TrimSpace(stderr); text != "" {
		return errors.New(text)
	}
	return err
}

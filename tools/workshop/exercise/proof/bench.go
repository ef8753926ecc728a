package proof

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/process"
)

// A bench is where reproductions run: a slot, and a lab if the slot has its programs.
type bench struct {
	*slot
	timeout time.Duration // of each block
	dir     string        // of the lab, and of temporary files
	lab     string        // the lab's program; empty if it is not built
}

func newBench(s *slot, timeout time.Duration) (*bench, error) {
	dir, err := os.MkdirTemp("", "reproduce-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for reproductions: %w", err)
	}
	b := &bench{slot: s, timeout: timeout, dir: dir}
	lab := s.Path("lab", "bin", "lab")
	if _, err := os.Stat(lab); err == nil {
		b.lab = lab
	}
	return b, nil
}

// end stops the lab, also after Ctrl-C, and removes it.
func (b *bench) end(ctx context.Context) error {
	if err := b.control(context.WithoutCancel(ctx), "reset"); err != nil {
		return fmt.Errorf("%w\nThe lab is kept in %s", err, b.dir)
	}
	return os.RemoveAll(b.dir)
}

// control runs a command of the lab.
func (b *bench) control(ctx context.Context, verb string) error {
	if b.lab == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	command := process.Command(ctx, b.lab, verb)
	// What it starts stays, so there is no pipe that this could keep open.
	output, err := os.CreateTemp(b.dir, "output-")
	if err != nil {
		return fmt.Errorf("making a file for the output: %w", err)
	}
	defer os.Remove(output.Name())
	defer output.Close()
	command.Env, command.Stdout, command.Stderr = b.environment(), output, output
	if err := command.Run(); err != nil {
		text, _ := os.ReadFile(output.Name())
		return fmt.Errorf("lab %s: %w; it printed:%s", verb, err, gotest.Indent(linesOf(string(text))))
	}
	return nil
}

// environment is that of a learner, whose shell has read what lab env prints.
func (b *bench) environment() []string {
	env := []string{
		"LAB_DIR=" + filepath.Join(b.dir, "lab"),
		"KUBECONFIG=" + filepath.Join(b.dir, "lab", "kubeconfig"), // without a lab, no cluster of the user's
		"TMPDIR=" + b.dir,
		"KUBECACHEDIR=" + filepath.Join(b.dir, "cache"),
		"KUBERC=off",
		"GOWORK=off",
	}
	if b.lab != "" {
		bin := filepath.Dir(b.lab)
		env = append(env,
			"KUBEBUILDER_ASSETS="+bin,
			"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	return process.Environment([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}, env...)
}

// try runs a reproduction, and says what is wrong with it.
func (b *bench) try(ctx context.Context, r reproduction) (problem string, err error) {
	printed, problem, err := b.runBlock(ctx, r, r.Patch())
	switch {
	case err != nil:
		return "", err
	case problem != "":
		return "with the patch " + problem + "; it printed:" + gotest.Indent(linesOf(printed)), nil
	case !matches(printed, r.output):
		return "with the patch the block prints something else than the page shows:" + gotest.Indent(linesOf(printed)), nil
	}
	printed, problem, err = b.runBlock(ctx, r, "")
	switch {
	case err != nil:
		return "", err
	case problem != "":
		return "without the patch " + problem + "; it printed:" + gotest.Indent(linesOf(printed)), nil
	case matches(printed, r.output):
		return "without the patch the block prints the same, so it does not show whether a fix works:" + gotest.Indent(linesOf(printed)), nil
	}
	return "", nil
}

// runBlock runs the block of a reproduction in the code of the stage, or in what a patch makes of it.
func (b *bench) runBlock(ctx context.Context, r reproduction, patch string) (printed, problem string, err error) {
	if err := b.restore(ctx); err != nil {
		return "", "", err
	}
	if patch != "" {
		if err := b.apply(ctx, patch); err != nil {
			return "", "", fmt.Errorf("break.patch does not apply: %w", err)
		}
	}
	// At first, or if the last block stopped a part of it.
	if err := b.control(ctx, "up"); err != nil {
		return "", "", err
	}
	before, err := b.objects(ctx)
	if err != nil {
		return "", "", err
	}
	if printed, problem, err = b.run(ctx, r.block); err != nil || problem != "" {
		return printed, problem, err
	}
	problem, err = b.leftBehind(ctx, before)
	return printed, problem, err
}

// objects are the names of those that a reproduction may make, and has to remove.
func (b *bench) objects(ctx context.Context) ([]string, error) {
	if b.lab == "" {
		return nil, nil
	}
	command := process.Command(ctx, b.lab, "kubectl", "get", "--namespace=default", "--output=name",
		"namespaces,nodes,customresourcedefinitions,validatingwebhookconfigurations,pods,configmaps,secrets")
	command.Env = b.environment()
	names, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the objects in the lab: %w", err)
	}
	return strings.Fields(string(names)), nil
}

// leftBehind waits a little until a reproduction's objects are gone, and says if one stays.
func (b *bench) leftBehind(ctx context.Context, before []string) (problem string, err error) {
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		after, err := b.objects(ctx)
		if err != nil {
			return "", err
		}
		left := slices.DeleteFunc(after, func(name string) bool { return slices.Contains(before, name) })
		switch {
		case len(left) == 0:
			return "", nil
		case time.Since(began) > min(b.timeout, time.Minute):
			return "the block did not remove " + strings.Join(left, ", "), nil
		}
	}
}

// run runs a block at the top of the copy, and kills what it leaves running.
func (b *bench) run(ctx context.Context, block string) (printed, problem string, err error) {
	output, err := os.CreateTemp(b.dir, "output-")
	if err != nil {
		return "", "", fmt.Errorf("making a file for the output: %w", err)
	}
	defer os.Remove(output.Name())
	defer output.Close()

	limited, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	command := process.Command(limited, "bash", "-c", block)
	command.Dir, command.Env = b.Root, b.environment()
	mark := process.NewMark(command)
	command.Stdout, command.Stderr = output, output
	err = command.Run()
	left := leftRunning(mark)
	mark.Kill()
	if ctx.Err() != nil {
		return "", "", context.Cause(ctx)
	}
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended && limited.Err() == nil {
		return "", "", fmt.Errorf("running bash: %w", err)
	}
	text, err := os.ReadFile(output.Name())
	if err != nil {
		return "", "", fmt.Errorf("reading the output: %w", err)
	}
	switch code := command.ProcessState.ExitCode(); {
	case limited.Err() != nil:
		problem = fmt.Sprintf("the block did not end within %s, and was killed", b.timeout)
	case code != 0:
		problem = fmt.Sprintf("the block ended with exit code %d", code)
	case left != "":
		problem = fmt.Sprintf("the block left %q running, which was killed", left)
	}
	return string(text), problem, nil
}

// leftRunning returns the command of a process that has a mark, and does not end within a few seconds.
func leftRunning(mark process.Mark) string {
	const signalled = 5 * time.Second // it may have been told to end a moment ago
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		command := mark.Running()
		if command == "" || time.Since(began) > signalled {
			return command
		}
	}
}

func linesOf(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Git runs git in a folder and returns what it prints, without the last newline. An
// error holds what git said.
func Git(ctx context.Context, dir string, args ...string) (string, error) {
	return gitWith(ctx, dir, nil, "", args...)
}

// Diff runs git diff in r, in the form that git apply takes and that is the same for
// everybody: a user may have set another.
func (r Repository) Diff(ctx context.Context, args ...string) (string, error) {
	form := []string{
		"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--unified=3",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short",
	}
	return r.Git(ctx, append(form, args...)...)
}

// gitWith is Git with more variables in its environment, and with an input.
func gitWith(ctx context.Context, dir string, env []string, input string, args ...string) (string, error) {
	verb := args[0]
	// The user's own signing, hooks and colours have no say in what is made here, nor what
	// he thinks of white space. His configuration as a whole is needed: it has what he
	// ignores, and which folders of others he trusts.
	args = append([]string{
		"-c", "commit.gpgsign=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "color.ui=false",
		"-c", "core.safecrlf=false", "-c", "apply.whitespace=nowarn",
	}, args...)
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	// git takes away its locks and what is half made when it's asked to end.
	command.Cancel, command.WaitDelay = func() error { return command.Process.Signal(syscall.SIGTERM) }, 5*time.Second
	command.Env = append(cleanEnvironment(), env...)
	command.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	switch err := command.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not installed, or not in PATH")
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s: %w", verb, context.Cause(ctx))
	case err != nil:
		return "", fmt.Errorf("git %s: %s", verb, said(stderr.String(), err))
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// cleanEnvironment is this process's, without the variables by which git would take
// another repository for the one of the folder (a git hook sets them), and with the
// answers in English.
func cleanEnvironment() []string {
	env := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0"}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GIT_") && !strings.HasPrefix(variable, "LC_ALL=") {
			env = append(env, variable)
		}
	}
	return env
}

func said(stderr string, err error) string {
	text := strings.TrimSpace(strings.TrimPrefix(stderr, "fatal: "))
	if text == "" {
		return err.Error()
	}
	return text
}

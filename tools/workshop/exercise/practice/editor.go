package practice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
)

// edit opens what the exercise is about in the learner's editor, and waits until that ends.
func (s *session) edit(ctx context.Context, c workCopy, e exercise.Exercise) error {
	var files []string
	for _, file := range append(e.Judge.Write, e.Judge.Read...) {
		files = append(files, c.Path(e.Path(file)))
	}
	return s.openFiles(ctx, append(files, c.Path(e.Folder(), "README.md"))...)
}

// openByItself opens the file to write in, or else the first to read, beside VS Code's terminal. Where
// that cannot be, the key o is left.
func (s *session) openByItself(ctx context.Context, c workCopy, e exercise.Exercise) {
	if files := append(e.Judge.Write, e.Judge.Read...); s.code && len(files) > 0 {
		file := c.Path(e.Path(files[0]))
		_ = exec.CommandContext(ctx, "code", "-r", "-g", fmt.Sprintf("%s:%d", file, lineOf(file))).Run()
	}
}

// lineOf is the line of the first stub in a file, or else the first one: where a mistake is to be
// found is not told.
func lineOf(file string) int {
	content, _ := os.ReadFile(file) // what cannot be read has no stub
	before, _, found := strings.Cut(string(content), "not written yet")
	if !found {
		return 1
	}
	return 1 + strings.Count(before, "\n")
}

// editing is whether the learner's editor has the terminal.
var editing atomic.Bool

// NotifyContext ends with the first signal that ends a program, but for a Ctrl-C that is the editor's. A
// second Ctrl-C ends the program whatever it is doing.
func NotifyContext() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // SIGHUP is of a terminal that is closed
	go func() {
		for s := range signals {
			if s != os.Interrupt || !editing.Load() {
				signal.Stop(signals)
				cancel(fmt.Errorf("%v signal received", s))
				return
			}
		}
	}()
	return ctx
}

// openFiles opens files in $VISUAL or $EDITOR, in VS Code's terminal in VS Code without one.
func (s *session) openFiles(ctx context.Context, files ...string) error {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if editor == "" && s.code {
		editor = "code -r"
	}
	if editor == "" {
		return errors.New("no editor is set; quit, and set one: export EDITOR=vim")
	}
	// As git does it: the variable may hold flags, too.
	args := []string{"-c", editor + ` "$@"`, editor}
	for _, file := range files {
		args = append(args, s.path(file))
	}
	command := exec.CommandContext(ctx, "sh", args...)
	command.Dir, command.Stdout, command.Stderr = s.cwd, s.out, s.out
	command.Cancel, command.WaitDelay = func() error { return command.Process.Signal(syscall.SIGHUP) }, 5*time.Second // editors save what they have
	if s.terminal != nil {
		editing.Store(true)
		defer editing.Store(false)
		s.terminal.restore()
		defer s.terminal.byKey()
		command.Stdin, command.Stdout, command.Stderr = s.terminal.file, os.Stdout, os.Stderr
	}
	if err := command.Run(); err != nil {
		return fmt.Errorf("running %s: %w", editor, err)
	}
	return nil
}

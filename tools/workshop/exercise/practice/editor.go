package practice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

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

// openFiles opens files in $VISUAL or $EDITOR.
func (s *session) openFiles(ctx context.Context, files ...string) error {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
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
	if s.terminal != nil {
		s.terminal.restore()
		defer s.terminal.byKey()
		command.Stdin, command.Stdout, command.Stderr = s.terminal.file, os.Stdout, os.Stderr
	}
	if err := command.Run(); err != nil {
		return fmt.Errorf("running %s: %w", editor, err)
	}
	return nil
}

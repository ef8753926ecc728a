package practice

import (
	"context"
	"fmt"
	"path"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/exercise"
)

// intact returns the exercise, and refuses to judge by tests that are not those of the
// start. More tests in new files are welcome, and so are those that the learner is to write.
func (p practice) intact(ctx context.Context, c workCopy) (exercise.Exercise, error) {
	number, name, _ := strings.Cut(c.ID, "-")
	stage, err := c.Stage(number)
	if err != nil {
		return exercise.Exercise{}, err
	}
	// First what names the tests, then the tests.
	if err := p.unchanged(ctx, c, exercise.Exercise{Stage: stage, Name: name}.Folder()); err != nil {
		return exercise.Exercise{}, err
	}
	e, err := c.exercise()
	if err != nil {
		return exercise.Exercise{}, err
	}
	var tests []string
	for _, pkg := range e.Packages() {
		dir := ":(glob)" + path.Join(e.Module(), pkg)
		tests = append(tests, dir+"/*_test.go", dir+"/testdata/**")
	}
	for _, file := range e.Judge.Write {
		tests = append(tests, ":(exclude)"+e.Path(file))
	}
	return e, p.unchanged(ctx, c, tests...)
}

func (p practice) unchanged(ctx context.Context, c workCopy, pathspecs ...string) error {
	changed, err := c.Diff(ctx, append([]string{"--name-only", "--no-renames", c.broken(), "--"}, pathspecs...)...)
	if err != nil {
		return fmt.Errorf("comparing the tests with those of the start: %w", err)
	}
	if changed == "" {
		return nil
	}
	files := "'" + strings.ReplaceAll(changed, "\n", "' '") + "'"
	return fmt.Errorf("the tests decide, and these files have changed: %s; to restore them: git -C '%s' checkout %s -- %s",
		files, p.path(c.Root), c.broken(), files)
}

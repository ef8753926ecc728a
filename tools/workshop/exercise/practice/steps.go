package practice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/process"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// lessonName is what a learner calls a lesson: 3, or 4/queue.
func lessonName(l lesson.Lesson) string { return path.Join(strconv.Itoa(l.Stage.Number), l.Part) }

// lessons returns the lessons of all stages.
func (p practice) lessons() ([]lesson.Lesson, error) {
	stages, err := p.home.Stages()
	if err != nil {
		return nil, err
	}
	var all []lesson.Lesson
	for _, stage := range stages {
		if _, err := os.Stat(p.home.Path(stage.Folder, "README.md")); err != nil {
			continue // a stage that is being written
		}
		lessons, err := lesson.Of(p.home, stage)
		if err != nil {
			return nil, err
		}
		all = append(all, lessons...)
	}
	return all, nil
}

// lessonIn returns the lesson of a folder. A page without steps is none.
func (p practice) lessonIn(folder string) (lesson.Lesson, error) {
	lessons, err := p.lessons()
	i := slices.IndexFunc(lessons, func(l lesson.Lesson) bool { return l.Folder() == folder })
	if i < 0 {
		return lesson.Lesson{}, err
	}
	return lessons[i], err
}

// stepsOf counts the steps of all lessons, and those that are done.
func (p Progress) stepsOf(lessons []lesson.Lesson) (done, all int) {
	for _, l := range lessons {
		all += len(l.Steps)
		for _, step := range l.Steps {
			if slices.Contains(p.Steps[lessonName(l)], step.Number) {
				done++
			}
		}
	}
	return done, all
}

// step runs the check of a lesson's step, and records that it is done. Without a number it
// is the next step, and without a name the next lesson of the stage that the learner is in.
func (p practice) step(ctx context.Context, name, number string) error {
	lessons, err := p.lessons()
	if err != nil {
		return err
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	if name == "" {
		return p.checkNext(ctx, lessons, progress, p.stageOf(p.cwd))
	}
	l, err := lessonNamed(name, lessons)
	if err != nil {
		return err
	}
	if number == "" {
		return p.checkNext(ctx, []lesson.Lesson{l}, progress, 0)
	}
	for _, step := range l.Steps {
		if strconv.Itoa(step.Number) == number {
			return p.checkStep(ctx, l, step)
		}
	}
	return fmt.Errorf("the lesson %s has no step %s; it has %d", name, number, len(l.Steps))
}

// lessonNamed returns the lesson that a learner calls so. Its error names all that there are.
func lessonNamed(name string, lessons []lesson.Lesson) (lesson.Lesson, error) {
	var names []string
	for _, l := range lessons {
		if names = append(names, lessonName(l)); lessonName(l) == strings.TrimLeft(name, "0") {
			return l, nil
		}
	}
	if name == "" {
		return lesson.Lesson{}, fmt.Errorf("name the lesson: %s", strings.Join(names, ", "))
	}
	return lesson.Lesson{}, fmt.Errorf("there is no lesson %q; %s", name, exercise.Suggest(name, "the lessons", names))
}

// checkNext checks the next step of a stage, or of all if it is 0.
func (p practice) checkNext(ctx context.Context, lessons []lesson.Lesson, progress Progress, stage int) error {
	for _, l := range lessons {
		if step, ok := progress.nextAt(l, track.Stop{}); ok && (stage == 0 || l.Stage.Number == stage) {
			return p.checkStep(ctx, l, step)
		}
	}
	p.printf("All steps are done.")
	return nil
}

// stageOf is the number of the stage that a folder lies in, or 0.
func (p practice) stageOf(dir string) int {
	stages, _ := p.home.Stages()
	for _, stage := range stages {
		if dir == p.home.Path(stage.Folder) || strings.HasPrefix(dir, p.home.Path(stage.Folder)+"/") {
			return stage.Number
		}
	}
	return 0
}

// checkStep runs a step's check, and records that it is done. Its error is ErrNotYet if it is
// not.
func (p practice) checkStep(ctx context.Context, l lesson.Lesson, step lesson.Step) error {
	if err := p.update(func(progress *Progress) { progress.Lesson = l.Folder() }); err != nil {
		return err
	}
	if answered, err := p.predict(ctx, l, step.Questions); err != nil || answered {
		return cmp.Or(err, ErrNotYet)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	command := process.Command(ctx, "sh", step.Check)
	command.Dir = p.home.Path(l.Stage.Folder)
	command.Env = p.labEnvironment()
	output, err := command.CombinedOutput()
	where := fmt.Sprintf("%s, step %d of %d: %s", p.path(p.home.Path(l.Folder(), "README.md")), step.Number, len(l.Steps), step.Title)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", step.Check, context.Cause(ctx))
	}
	if err != nil {
		p.printf("%s\n  not yet: %s", where, strings.ReplaceAll(strings.TrimSpace(string(output)), "\n", "\n  "))
		p.nameCluster(p.home.Path(l.Stage.Folder, step.Check))
		return ErrNotYet
	}
	err = p.update(func(progress *Progress) { progress.Steps = with(progress.Steps, lessonName(l), step.Number) })
	if err != nil {
		return err
	}
	p.printf("%s\n  done", where)
	if err := p.reveal(ctx, l, step.Questions); err != nil {
		return err
	}
	return p.nameTries(ctx, l, step)
}

// nameTries names those of a step that don't pass yet.
func (p practice) nameTries(ctx context.Context, l lesson.Lesson, step lesson.Step) error {
	e, found, err := lesson.Tries(p.home, l.Ref)
	if err != nil || !found {
		return err
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	for _, group := range e.Judge.Groups[min(progress.of(e.ID()).Passed, len(e.Judge.Groups)):] {
		if slices.ContainsFunc(step.Tries, func(t lesson.Try) bool { return t.Name == group.Name }) {
			p.printf("\nNow you: %s (%s)", group.Name, p.key("t", "try "+group.Name))
		}
	}
	return nil
}

// labEnvironment is the learner's, with the lab's programs. The cluster is the lab, unless
// the learner has chosen one.
func (p practice) labEnvironment() []string {
	bin := p.home.Path("lab", "bin")
	env := process.Environment(nil, "GOWORK=off", "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+bin)
	if lab := lesson.LabKubeconfig(p.home); os.Getenv("KUBECONFIG") == "" && isThere(lab) {
		env = append(env, "KUBECONFIG="+lab)
	}
	return env
}

func isThere(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, os.ErrNotExist)
}

// nameCluster says which cluster a check has asked, if it wasn't the lab.
func (p practice) nameCluster(check string) {
	lab := lesson.LabKubeconfig(p.home)
	content, _ := os.ReadFile(check)
	switch named := os.Getenv("KUBECONFIG"); {
	case !strings.Contains(string(content), "kubectl"):
	case named != "" && !lesson.SameFile(named, lab):
		p.printf("  What it asked was the cluster of KUBECONFIG=%s; to ask the lab, quit and run: eval \"$(make -s env)\"", named)
	case named == "" && !isThere(lab):
		p.printf("  The lab was never started; to start it: make lab-up")
	}
}

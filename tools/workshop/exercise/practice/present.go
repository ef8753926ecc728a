package practice

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// present says what an exercise is about, and where.
func (s *session) present(ctx context.Context, c workCopy, e exercise.Exercise) error {
	introduce := s.presentExercise
	if e.Judge.Kind == exercise.Try {
		introduce = s.presentTry
	}
	err := introduce(ctx, c, e)
	s.printf("\n%s", s.keysHelp())
	s.openByItself(ctx, c, e)
	return err
}

func (s *session) presentExercise(ctx context.Context, c workCopy, e exercise.Exercise) error {
	l, step, open, err := s.lessonOf(ctx, e)
	if err != nil {
		return err
	}
	optional := ""
	if i := s.way.index(e); i >= 0 && s.way.stops[i].May {
		optional = ", optional: n leaves it out"
	}
	s.printf("\n%s: %s (level %d, about %d minutes%s)\n", c.ID, e.Title, e.Judge.Level, e.Judge.Minutes, optional)
	if len(l.Steps) > 0 {
		where := s.path(s.home.Path(l.Folder(), "README.md"))
		if open {
			where += fmt.Sprintf(", step %d of %d: %s", step.Number, len(l.Steps), step.Title)
		}
		s.printf("  lesson    %s", where)
	}
	s.printf("  the task  %s", s.path(c.Path(e.Folder(), "README.md")))
	for _, file := range e.Judge.Write {
		s.printf("  write in  %s", s.path(c.Path(e.Path(file))))
	}
	for _, file := range e.Judge.Read {
		s.printf("  read      %s", s.path(c.Path(e.Path(file))))
	}
	return nil
}

// lessonOf returns the lesson that an exercise belongs to: the one that asks for the tries, or the first
// that names it, or else that of its stage. With it comes the first step on the way that isn't done.
func (s *session) lessonOf(ctx context.Context, e exercise.Exercise) (l lesson.Lesson, step lesson.Step, open bool, err error) {
	folder := path.Join(e.Stage.Folder, e.Judge.Lesson)
	if pages := s.way.facts.Exercises[e.Key()].Pages; len(pages) > 0 {
		folder = pages[0]
	}
	if l, err = s.lessonIn(folder); err != nil {
		return l, step, false, err
	}
	progress, err := s.progress(ctx)
	if len(s.way.stops) == 0 {
		step, open = progress.nextAt(l, track.Stop{})
	}
	for _, stop := range s.way.stops {
		if !open && stop.Kind == track.Read && stop.Name == folder {
			step, open = progress.nextAt(l, stop)
		}
	}
	return l, step, open, err
}

// checkLesson checks the next step of the lesson that an exercise belongs to.
func (s *session) checkLesson(ctx context.Context, e exercise.Exercise) error {
	l, step, open, err := s.lessonOf(ctx, e)
	if err == nil && !open {
		err = errors.New("no step of this lesson is left to check")
	}
	if err != nil {
		return err
	}
	return s.checkStep(ctx, l, step)
}

func (s *session) showVerdict(j judgement) {
	s.printf("\n%s, after %.1fs", time.Now().Format(time.TimeOnly), j.took.Seconds())
	s.show(j.outcome, j.exercise.Judge.Groups)
	switch {
	case j.tooLong:
		s.printf("\nThe tests were stopped after %s: something waits forever, or loops forever.", s.timeout)
	case j.outcome.solved() && !j.solved: // a try
		s.printf("\nWell done: %s.", j.count())
	case !j.solved:
		s.printf("\nNot yet: %s. %s", j.count(), s.help(j.hintsLeft))
	}
}

// showLine shows how far one is in the whole workshop.
func (s *session) showLine(ctx context.Context, c workCopy) {
	if len(s.way.stops) > 0 {
		s.printf("\n[%s, %d of %d] %s: waiting for you to save a file", s.way.title, s.way.at+1, len(s.way.stops), c.ID)
		return
	}
	exercises, _, err := exercise.All(s.home)
	lessons, err2 := s.lessons()
	progress, err3 := s.progress(ctx)
	if err := errors.Join(err, err2, err3); err != nil {
		s.printf("%v", err)
		return
	}
	solved := 0
	for _, e := range exercises {
		if !progress.of(e.ID()).Solved.IsZero() {
			solved++
		}
	}
	done, all := progress.stepsOf(lessons)
	s.printf("\n[%d of %d exercises, %d of %d lesson steps] %s: waiting for you to save a file", solved, len(exercises), done, all, c.ID)
}

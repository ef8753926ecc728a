package practice

import (
	"context"
	"errors"
)

// keysHelp names the keys of an exercise, or of the try that stands in the middle of a lesson.
func (s *session) keysHelp() string {
	where := "n next exercise   b back to the lesson   t its next try"
	if s.only > 0 {
		where = "n back to the lesson"
	}
	return "h hint   s solution   l list   r reset   o open in $EDITOR   " + where + "   c check the lesson's next step   q quit"
}

// onKey does what a key says, and says whether that ends the job.
func (j *job) onKey(ctx context.Context, key rune, open bool) (ended bool) {
	if !open {
		j.keys, j.quits = nil, j.terminal != nil // it was closed
		return j.quits
	}
	switch onWay := len(j.way.stops) > 0; {
	case key == 'q':
		j.quits = true
		return true
	case key == 'n':
		return true
	case (key == 'b' || key == 't') && onWay && j.only == 0 && j.way.index(j.e) < 0:
		j.printf("%s is not on your way. Its lesson is %s", j.c.ID, j.lessonFile(j.e))
		j.ask()
		return false
	case key == 'b' && onWay, key == 't' && onWay && j.only == 0:
		j.back, j.tries = true, key == 't'
		return true
	case key == 'r', key == 'o':
		j.running.end() // so that it prints nothing meanwhile
		select {
		case <-j.running.verdict: // nobody has seen it
			defer j.try(ctx, 0)
		default:
		}
	}
	if err := j.press(ctx, key); err != nil && !errors.Is(err, ErrNotYet) {
		j.printf("%v", err)
	}
	j.ask()
	return false
}

// press does what a key says.
func (j *job) press(ctx context.Context, key rune) error {
	switch key {
	case 'h':
		return j.hint(ctx, j.c, false)
	case 's':
		return j.solution(ctx, j.c, false)
	case 'l':
		return j.list(ctx)
	case 'r':
		j.printf("Reset %s? Your changes are kept as a patch. (y or n)", j.c.ID)
		switch key, _ := j.answer(ctx); {
		case ctx.Err() != nil: // Ctrl-C
		case key == 'y':
			return j.reset(ctx, j.c)
		default:
			j.printf("Nothing was reset.")
		}
		return nil
	case 'o':
		return j.edit(ctx, j.c, j.e)
	case 'c':
		return j.checkLesson(ctx, j.e)
	case '\n':
		j.showLine(ctx, j.c)
		return nil
	default:
		j.printf("%s", j.keysHelp())
		return nil
	}
}

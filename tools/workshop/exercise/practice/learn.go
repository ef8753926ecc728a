package practice

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/exercise/standby"
	"example.com/hacking-a-controller/tools/workshop/lines"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// A session is one learner who works on one exercise after the other.
type session struct {
	practice
	timeout  time.Duration
	terminal *terminal // nil if the input is none
	ask      func()    // for one key
	keys     <-chan rune
	screen   *screen
	lab      *labBuild        // nil unless it was begun
	endLab   func()           // returns when it has ended
	standby  *standby.Standby // nil without an API server
	slow     map[string]bool  // the exercises in which a test needs longer than firstTimeout
	only     int              // the number of the try that ends the session once it passes, or 0
	way      way              // empty without tracks
	back     bool             // the learner wants the page before
	tries    bool             // and its next try at once
	quits    bool             // the learner has said so
}

// learn leads through the exercises, from the current one on. It judges at each save, and does
// what keys command, until the learner quits or ctx ends.
func (p practice) learn(ctx context.Context, in io.Reader, t *terminal, timeout time.Duration) error {
	return p.inSession(ctx, in, t, timeout, func(s *session) (next bool, err error) {
		if err := s.remindOfReview(ctx); err != nil {
			return false, err
		}
		var c workCopy
		var e exercise.Exercise
		if err = s.chooseWay(ctx); err == nil && !s.quits {
			c, e, err = s.resume(ctx)
		}
		for err == nil && c.ID != "" {
			if next, err = s.work(ctx, c, e); !next || err != nil {
				break
			}
			c, e, err = s.moveOn(ctx, e)
		}
		return false, err
	})
}

// inSession has a learner at the keys. What it does returns whether it came to its end.
func (p practice) inSession(ctx context.Context, in io.Reader, t *terminal, timeout time.Duration, do func(*session) (ended bool, err error)) error {
	screen := &screen{Writer: p.out}
	p.out, p.byKey, p.stepwise = lines.NewLocked(screen), true, true
	s := &session{practice: p, timeout: timeout, terminal: t, screen: screen, endLab: func() {}, slow: map[string]bool{}}
	s.ask, s.keys = keys(in, t == nil)
	s.answer = newAnswerer(s.ask, s.keys)
	t.byKey()
	defer t.restore()
	// Whatever is still to be ended, and if a second Ctrl-C does not wait for it.
	defer context.AfterFunc(ctx, t.restore)()
	defer func() { s.endLab() }()
	if s.hasLab() {
		if err := s.openStandby(ctx); err != nil {
			return err
		}
	}
	defer func() {
		if s.standby != nil {
			_ = s.standby.Close()
		}
	}()
	ended, err := do(s)
	s.endLab()
	if err != nil && ctx.Err() == nil {
		return err
	}
	if !ended {
		s.printf("\nTo continue: make learn")
	}
	return nil
}

// openStandby has API servers stand by for the tests, from now on.
func (s *session) openStandby(ctx context.Context) error {
	servers, err := standby.New(ctx, (gotest.Module{Assets: s.assets}).AssetsFolder())
	if err != nil {
		return err
	}
	s.standby, s.variables = servers, servers.Env()
	return nil
}

// resume returns the current exercise, or else the next one.
func (s *session) resume(ctx context.Context) (workCopy, exercise.Exercise, error) {
	progress, err := s.progress(ctx)
	if err != nil {
		return workCopy{}, exercise.Exercise{}, err
	}
	if c := s.copyOf(progress.Current); progress.Current != "" && !progress.Reading && c.exists(ctx) {
		e, err := c.exercise()
		if err != nil || progress.of(c.ID).Solved.IsZero() {
			return c, e, errors.Join(err, s.printOutdated(ctx, c, e))
		}
		return s.moveOn(ctx, e)
	}
	return s.moveOn(ctx, exercise.Exercise{})
}

// moveOn begins the exercise after e that is not solved, if there is one. Without a lab, those that
// need none come first.
func (s *session) moveOn(ctx context.Context, e exercise.Exercise) (workCopy, exercise.Exercise, error) {
	next, ok := s.next(ctx, e)
	if len(s.way.stops) > 0 {
		var err error
		if next, ok, err = s.follow(ctx, e); err != nil || s.quits {
			return workCopy{}, e, err
		}
		if !ok {
			s.printf("That was all of %s. To go on: make learn TRACK=%s", s.way.title, track.Deep)
			return workCopy{}, e, nil
		}
	}
	if !ok {
		s.printf("You have solved all exercises. For a report to hand in: %s", s.command("report"))
		return workCopy{}, e, nil
	}
	if s.lab != nil && !s.hasLab() {
		other, ok := s.nextWithoutLab(ctx, e)
		switch {
		case ok:
			next = other
		case s.lab.failed():
			s.printf("All other exercises need the lab. To see what is wrong with it: make lab")
			return workCopy{}, e, nil
		}
	}
	c, e, _, err := s.begin(ctx, strconv.Itoa(next.Stage.Number), next.Name)
	return c, e, err
}

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

// firstTimeout is how long a test may wait for one thing before there is a first verdict. If it
// timed out, the tests are run again with testTimeout.
const firstTimeout = 3 * time.Second

const keysHelp = "h hint   s solution   l list   r reset   o open in $EDITOR   n next exercise   b back to the lesson   c check the lesson's next step   q quit"

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
	defer func() { s.closeStandby() }()
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

func (s *session) closeStandby() {
	if s.standby != nil {
		_ = s.standby.Close()
	}
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

// A verdict is what a run of the judging tests came to.
type verdict struct {
	judgement
	err error
}

// A trial is a run of the judging tests in the background.
type trial struct {
	verdict <-chan verdict
	end     func() // returns when it has ended
}

func (s *session) try(ctx context.Context, c workCopy, wait time.Duration, tries int) trial {
	ctx, cancel := context.WithCancel(ctx)
	verdicts, ended := make(chan verdict, 1), make(chan struct{})
	p := s.practice
	p.wait = wait
	go func() {
		defer close(ended)
		j, err := p.judge(ctx, c, s.timeout, tries)
		verdicts <- verdict{j, err}
	}()
	return trial{verdicts, func() { cancel(); <-ended }}
}

// work is about one exercise. It says whether to move on to the next.
func (s *session) work(ctx context.Context, c workCopy, e exercise.Exercise) (moveOn bool, err error) {
	if err := s.present(ctx, c, e); err != nil {
		return false, err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	saved, err := saves(watching, c.folders(e)...)
	if err != nil {
		return false, err
	}
	waits, err := s.awaitLab(ctx, c, e)
	if err != nil {
		return false, err
	}
	var built <-chan struct{}
	if s.lab != nil && s.standby == nil && !s.lab.reported {
		built = s.lab.ended // perhaps already
	}
	running := trial{end: func() {}}
	defer func() { running.end() }()
	if !waits {
		// The first verdict shows where one is. Nobody has tried anything yet.
		running = s.try(ctx, c, s.timeoutFor(c), 0)
	}
	var first *judgement // of a trial that is repeated with testTimeout
	s.ask()
	for {
		select {
		case <-built:
			built = nil
			if ctx.Err() != nil {
				continue
			}
			s.lab.reported = true
			if s.lab.err != nil {
				s.printf("%v.", s.lab.err)
				if waits {
					return true, nil
				}
				continue
			}
			if err := s.openStandby(ctx); err != nil {
				return false, err
			}
			if waits {
				waits, running = false, s.try(ctx, c, s.timeoutFor(c), 0)
			}
		case <-saved:
			if waits {
				continue
			}
			running.end()
			running, first = s.try(ctx, c, s.timeoutFor(c), 1), nil
		case v := <-running.verdict:
			switch {
			case ctx.Err() != nil:
				continue
			case v.err != nil:
				s.printf("%v", v.err)
			case s.only > 0 && v.groups >= s.only && !v.solved:
				s.printf("\n%s passes, after %.1fs: %s. Go on in %s", e.Judge.Groups[s.only-1].Name, v.took.Seconds(), v.count(), s.lessonFile(e))
				return true, nil
			case e.Judge.Kind == exercise.Try && v.outcome.solved() && !v.solved:
				s.showVerdict(v.judgement)
				s.prepare()
				if err := s.presentTry(ctx, c, e); err != nil {
					return false, err
				}
				continue
			case v.outcome.solved() && !v.solved:
				s.printf("\n%s, after %.1fs\n\n%s", time.Now().Format(time.TimeOnly), v.took.Seconds(), passes(e.Judge.Groups, v.groups))
				s.prepare()
				running, first = s.try(ctx, c, s.timeoutFor(c), 0), nil
				continue
			case first != nil && v.same(*first):
				s.printf("The result is the same with a timeout of %s.", testTimeout)
			default:
				s.slow[c.ID] = s.slow[c.ID] || first != nil
				s.showVerdict(v.judgement)
			}
			if v.solved {
				s.praise(e, s.command("solution "+c.ID))
				return true, nil
			}
			if v.waited && first == nil && !s.slow[c.ID] {
				s.printf("A test timed out after %s. Running the tests again with a timeout of %s, in case the machine is slow.", firstTimeout, testTimeout)
				first = &v.judgement
				running = s.try(ctx, c, testTimeout, 0)
				continue
			}
			s.prepare()
			s.showLine(ctx, c)
		case key, open := <-s.keys:
			if !open && s.terminal != nil {
				return false, nil // it was closed
			}
			if !open {
				s.keys = nil
				continue
			}
			switch key {
			case 'q':
				return false, nil
			case 'n', 'b':
				s.back = key == 'b' && len(s.way.stops) > 0
				if key == 'n' || s.back {
					return true, nil
				}
			case 'r', 'o':
				running.end() // so that it prints nothing meanwhile
			}
			if err := s.press(ctx, key, c, e); err != nil && !errors.Is(err, ErrNotYet) {
				s.printf("%v", err)
			}
			s.ask()
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// prepare has an API server stand by for the next trial.
func (s *session) prepare() {
	if s.standby != nil {
		s.standby.Prepare()
	}
}

func (s *session) timeoutFor(c workCopy) time.Duration {
	if s.slow[c.ID] {
		return testTimeout
	}
	return firstTimeout
}

// same says whether two judgements would be shown alike, but for what tests print.
func (j judgement) same(other judgement) bool {
	return j.compiler == other.compiler && j.groups == other.groups && j.passing() == other.passing()
}

// press does what a key says.
func (s *session) press(ctx context.Context, key rune, c workCopy, e exercise.Exercise) error {
	switch key {
	case 'h':
		return s.hint(ctx, c, false)
	case 's':
		return s.solution(ctx, c, false)
	case 'l':
		return s.list(ctx)
	case 'r':
		s.printf("Reset %s? Your changes are kept as a patch. (y or n)", c.ID)
		s.ask()
		select {
		case key := <-s.keys:
			if key == 'y' {
				return s.reset(ctx, c)
			}
			s.printf("Nothing was reset.")
		case <-ctx.Done():
		}
		return nil
	case 'o':
		return s.edit(ctx, c, e)
	case 'c':
		return s.checkLesson(ctx, e)
	case '\n':
		s.showLine(ctx, c)
		return nil
	default:
		s.printf("%s", keysHelp)
		return nil
	}
}

// checkLesson checks the next step of the stage that an exercise belongs to.
func (s *session) checkLesson(ctx context.Context, e exercise.Exercise) error {
	lessons, err := s.lessons()
	if err != nil {
		return err
	}
	progress, err := s.progress(ctx)
	if err != nil {
		return err
	}
	return s.checkNext(ctx, lessons, progress, e.Stage.Number)
}

// present says what an exercise is about, and where.
func (s *session) present(ctx context.Context, c workCopy, e exercise.Exercise) error {
	if e.Judge.Kind == exercise.Try {
		err := s.presentTry(ctx, c, e)
		s.printf("\n%s", keysHelp)
		s.openByItself(ctx, c, e)
		return err
	}
	lessons, err := s.lessons()
	if err != nil {
		return err
	}
	progress, err := s.progress(ctx)
	if err != nil {
		return err
	}
	s.printf("\n%s: %s (level %d, about %d minutes)\n", c.ID, e.Title, e.Judge.Level, e.Judge.Minutes)
	if l, step, ok := progress.nextOf(lessons, e.Stage.Number); ok {
		s.printf("  lesson    %s, step %d of %d: %s", s.path(s.home.Path(l.Folder(), "README.md")), step.Number, len(l.Steps), step.Title)
	}
	s.printf("  the task  %s", s.path(c.Path(e.Folder(), "README.md")))
	for _, file := range e.Judge.Write {
		s.printf("  write in  %s", s.path(c.Path(e.Path(file))))
	}
	for _, file := range e.Judge.Read {
		s.printf("  read      %s", s.path(c.Path(e.Path(file))))
	}
	s.printf("\n%s", keysHelp)
	s.openByItself(ctx, c, e)
	return nil
}

func (s *session) showVerdict(j judgement) {
	s.printf("\n%s, after %.1fs", time.Now().Format(time.TimeOnly), j.took.Seconds())
	s.show(j.outcome, j.exercise.Judge.Groups)
	switch {
	case j.tooLong:
		s.printf("\nThe tests were stopped after %s: something waits for ever, or loops for ever.", s.timeout)
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

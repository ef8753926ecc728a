package practice

import (
	"context"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
)

// firstTimeout is how long a test may wait for one thing before there is a first verdict. If it
// timed out, the tests are run again with testTimeout.
const firstTimeout = 3 * time.Second

// A job is one exercise that a learner works on.
type job struct {
	*session
	c       workCopy
	e       exercise.Exercise
	waits   bool            // for the lab
	built   <-chan struct{} // says that the lab's build has ended; nil if nobody is to hear of it
	running trial
	first   *judgement // of a trial that is repeated with testTimeout
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
	j := &job{session: s, c: c, e: e, running: trial{end: func() {}}}
	if j.waits, err = s.awaitLab(ctx, c, e); err != nil {
		return false, err
	}
	if s.lab != nil && s.standby == nil && !s.lab.reported {
		j.built = s.lab.ended // perhaps already
	}
	defer func() { j.running.end() }()
	if !j.waits {
		s.printf("\nRunning the tests on the code as it stands ...")
		j.try(ctx, 0) // nobody has tried anything yet
	}
	s.ask()
	for ended := false; !ended && err == nil; {
		select {
		case <-j.built:
			ended, err = j.onLab(ctx)
		case <-saved:
			j.onSave(ctx)
		case v := <-j.running.verdict:
			ended, err = j.onVerdict(ctx, v)
		case key, open := <-s.keys:
			ended = j.onKey(ctx, key, open)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return err == nil && !s.quits, err
}

// try begins a trial, in the place of the last one.
func (j *job) try(ctx context.Context, tries int) {
	j.running, j.first = j.session.try(ctx, j.c, j.timeoutFor(j.c), tries), nil
}

// onLab goes on with the lab, once it is built. It says whether the job cannot be done without it.
func (j *job) onLab(ctx context.Context) (ended bool, err error) {
	j.built = nil
	if ctx.Err() != nil {
		return false, nil
	}
	j.lab.reported = true
	if j.lab.err != nil {
		j.printf("%v.", j.lab.err)
		return j.waits, nil
	}
	if err := j.openStandby(ctx); err != nil {
		return false, err
	}
	if j.waits {
		j.waits = false
		j.try(ctx, 0)
	}
	return false, nil
}

// onSave tries again. A trial that still runs is of code that is not there any more.
func (j *job) onSave(ctx context.Context) {
	if j.waits {
		return
	}
	j.running.end()
	if len(j.running.verdict) > 0 {
		j.printf("You have saved a file meanwhile: the tests begin again.")
	}
	j.try(ctx, 1)
}

// onVerdict shows what a trial came to, and says whether the job is done.
func (j *job) onVerdict(ctx context.Context, v verdict) (done bool, err error) {
	switch {
	case ctx.Err() != nil:
		return false, nil
	case v.err != nil:
		j.printf("%v", v.err)
	case j.only > 0 && v.groups >= j.only && !v.solved:
		j.printf("\n%s passes, after %.1fs: %s. Go on in %s", j.e.Judge.Groups[j.only-1].Name, v.took.Seconds(), v.count(), j.lessonFile(j.e))
		if len(j.way.stops) == 0 && v.groups < len(j.e.Judge.Groups) { // in make learn it is a key
			j.printf("The next one there: %s", j.command("try "+j.e.Judge.Groups[v.groups].Name))
		}
		return true, nil
	case j.e.Judge.Kind == exercise.Try && v.outcome.solved() && !v.solved:
		j.showVerdict(v.judgement)
		j.prepare()
		j.try(ctx, 0) // of the next one, which nobody has tried yet
		return false, j.presentTry(ctx, j.c, j.e)
	case v.outcome.solved() && !v.solved:
		j.printf("\n%s, after %.1fs\n\n%s", time.Now().Format(time.TimeOnly), v.took.Seconds(), passes(j.e.Judge.Groups, v.groups))
		j.prepare()
		j.try(ctx, 0)
		return false, nil
	case j.first != nil && v.same(*j.first):
		j.printf("The result is the same with a timeout of %s.", testTimeout)
	default:
		j.slow[j.c.ID] = j.slow[j.c.ID] || j.first != nil
		j.showVerdict(v.judgement)
	}
	if v.solved {
		j.praise(j.e, j.command("solution "+j.c.ID))
		return true, nil
	}
	if v.waited && j.first == nil && !j.slow[j.c.ID] {
		j.printf("A test timed out after %s. Running the tests again with a timeout of %s, in case the machine is slow.", firstTimeout, testTimeout)
		j.running, j.first = j.session.try(ctx, j.c, testTimeout, 0), &v.judgement
		return false, nil
	}
	j.prepare()
	j.showLine(ctx, j.c)
	return false, nil
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

package practice

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/lines"
	"example.com/hacking-a-controller/tools/workshop/process"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// hasLab reports whether there is an API server for the tests.
func (p practice) hasLab() bool { return (gotest.Module{Assets: p.assets}).MissingAssets() == "" }

// lacksLab reports whether an exercise needs the lab, and it is not built.
func (p practice) lacksLab(r repository.Repository, e exercise.Exercise) (bool, error) {
	if p.hasLab() {
		return false, nil
	}
	needing, err := exercise.NeedAPIServer(r, e)
	return len(needing) > 0, err
}

// ensureLab builds the lab if an exercise needs it and it is not built.
func (p practice) ensureLab(ctx context.Context, r repository.Repository, e exercise.Exercise) error {
	lacking, err := p.lacksLab(r, e)
	if err != nil || !lacking {
		return err
	}
	p.announceLab(e)
	if others := p.withoutLab(ctx); len(others) > 0 {
		p.printf("These need none: %s", some(others))
	}
	if _, ok := p.out.(*os.File); !ok {
		p.out = lines.NewLocked(p.out) // the build writes to it twice, as its output and its errors
	}
	return p.buildLab(ctx, p.out)
}

func (p practice) announceLab(e exercise.Exercise) {
	p.printf("\nThe tests of %s need an API server, so the lab is built first: that takes minutes, once.", e.ID())
}

// withoutLab returns the exercises that are not solved yet and need no lab.
func (p practice) withoutLab(ctx context.Context) []exercise.Exercise {
	progress, err := p.progress(ctx)
	if err != nil {
		return nil
	}
	all, err := p.onTrack(progress)
	if err != nil {
		return nil
	}
	needing, err := exercise.NeedAPIServer(p.home, all...)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(e exercise.Exercise) bool {
		return !progress.of(e.ID()).Solved.IsZero() || indexOf(needing, e) >= 0
	})
}

// nextWithoutLab is the next exercise that is not solved yet and needs no lab.
func (p practice) nextWithoutLab(ctx context.Context, e exercise.Exercise) (exercise.Exercise, bool) {
	all, _, err := exercise.All(p.home)
	if err != nil {
		return exercise.Exercise{}, false
	}
	others := p.withoutLab(ctx)
	return after(e, all, func(other exercise.Exercise) bool { return indexOf(others, other) >= 0 })
}

// some names the first few of some exercises, and counts the others.
func some(exercises []exercise.Exercise) string {
	const few = 6
	var names []string
	for _, e := range exercises[:min(few, len(exercises))] {
		names = append(names, e.ID())
	}
	if more := len(exercises) - few; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// buildLab runs make lab, which shows how far it is.
func (p practice) buildLab(ctx context.Context, out io.Writer) error {
	command := process.Command(ctx, "make", "--silent", "lab")
	command.Dir = p.home.Root
	command.Env = process.Environment(nil)
	command.Stdout, command.Stderr = out, until{ctx, p.out}
	// Interrupted, Go removes its temporary files.
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = 10 * time.Second
	err := command.Run()
	if ctx.Err() != nil {
		if command.Process != nil {
			_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		}
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("the lab could not be built (make lab: %w); what it printed says why", err)
	}
	return nil
}

// An until writes until a context ends. What make and Go have to say of being interrupted is no
// news to somebody who has pressed Ctrl-C.
type until struct {
	context.Context
	io.Writer
}

func (u until) Write(text []byte) (int, error) {
	if u.Err() != nil {
		return len(text), nil
	}
	return u.Writer.Write(text)
}

// A labBuild is the lab as it is built in the background.
type labBuild struct {
	ended    chan struct{}
	err      error // once it has ended
	reported bool  // the learner knows how it ended
}

// failed reports whether it has ended without a lab.
func (b *labBuild) failed() bool {
	select {
	case <-b.ended:
		return b.err != nil
	default:
		return false
	}
}

// awaitLab begins to build the lab if an exercise needs it and it is not built, and reports whether
// the exercise has to wait for it.
func (s *session) awaitLab(ctx context.Context, c workCopy, e exercise.Exercise) (waits bool, err error) {
	if waits, err = s.lacksLab(c.Repository, e); err != nil || !waits {
		return false, err
	}
	if s.lab == nil || s.lab.failed() {
		s.announceLab(e)
		s.startLab(ctx)
	} else {
		s.printf("\nThe tests of %s need an API server. They wait for the lab, which is still being built.", e.ID())
	}
	others := slices.DeleteFunc(s.withoutLab(ctx), func(other exercise.Exercise) bool { return other.ID() == e.ID() })
	if len(others) > 0 {
		s.printf("Meanwhile, n goes to an exercise that needs none: %s", some(others))
	}
	return true, nil
}

// startLab begins to build the lab.
func (s *session) startLab(ctx context.Context) {
	s.lab = &labBuild{ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(ctx)
	s.endLab = func() { cancel(); <-s.lab.ended }
	out := s.out
	if file, ok := s.screen.Writer.(*os.File); ok {
		out = file // it is itself what the build sees, and may be a terminal
	}
	s.screen.status.Store(true)
	go func() {
		defer close(s.lab.ended)
		defer s.screen.status.Store(false)
		s.lab.err = s.buildLab(ctx, out)
	}()
}

// A screen is where a session prints, maybe while a build shows in the last line how far it is.
type screen struct {
	io.Writer
	status atomic.Bool
}

// Write clears that line first. The build writes it again within a second.
func (s *screen) Write(text []byte) (int, error) {
	if s.status.Load() && isTerminal(s.Writer) && !slices.Contains([]string{"", "dumb"}, os.Getenv("TERM")) {
		if _, err := io.WriteString(s.Writer, "\r\x1b[K"); err != nil {
			return 0, err
		}
	}
	return s.Writer.Write(text)
}

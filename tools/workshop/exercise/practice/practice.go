// Package practice is for those who learn: it gives them an exercise in a copy of
// their own, judges what they do there, and helps.
//
// The copy is a git worktree in .workshop/, on a branch of its own. Its last commit
// is the one that breaks the code, so that git diff shows the learner's work and
// nothing else. That commit is also kept as the ref broken/4-tombstone, whatever
// becomes of the branch.
package practice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// ErrNotYet says that an exercise is not solved yet. Why is printed already.
var ErrNotYet = errors.New("the exercise is not solved yet")

// A practice is what one command works with.
type practice struct {
	cwd  string                // where the learner is
	here repository.Repository // the working tree that cwd lies in, maybe a copy
	home repository.Repository // the learner's clone
	out  io.Writer

	assets    string        // the folder of the API server
	wait      time.Duration // how long a test may wait for one thing
	variables []string      // more of the environment of tests
	stepwise  bool          // a group that passes is a verdict, before the next one is run
	byKey     bool          // messages name keys, not commands
	answer    answerer      // nil if nobody is there to be asked
	width     func() int    // of the terminal, in characters; nil if the output is none
	code      bool          // the terminal is that of Visual Studio Code, which opens files as code FILE
}

func open(ctx context.Context, out io.Writer) (practice, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return practice{}, fmt.Errorf("finding the current directory: %w", err)
	}
	return openIn(ctx, cwd, out)
}

func openIn(ctx context.Context, cwd string, out io.Writer) (practice, error) {
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real // as git names folders
	}
	here, err := repository.Find(ctx, cwd)
	if err != nil {
		return practice{}, err
	}
	home, err := here.Home(ctx)
	if err != nil {
		return practice{}, err
	}
	repairMoved(ctx, home)
	return practice{cwd: cwd, here: here, home: home, out: out, assets: home.Path("lab", "bin"), wait: testTimeout, width: widthOf(out), code: os.Getenv("TERM_PROGRAM") == "vscode"}, nil
}

// testTimeout is how long a test may wait for one thing. A test that has to fail may wait that
// long.
const testTimeout = 30 * time.Second

func (p practice) printf(format string, args ...any) {
	text := fmt.Sprintf(format+"\n", args...)
	if p.width != nil {
		text = wrapped(text, p.width())
	}
	_, _ = io.WriteString(p.out, text)
}

// path returns a path that the learner can type where he is.
func (p practice) path(absolute string) string {
	if relative, err := filepath.Rel(p.cwd, absolute); err == nil {
		return relative
	}
	return absolute
}

// command returns a command of this program, as the learner can type it.
func (p practice) command(args string) string {
	return p.path(p.home.Path("bin", "workshop")) + " " + args
}

// key returns a key, where keys count, or else the command that does the same.
func (p practice) key(key, args string) string {
	if p.byKey {
		return key
	}
	return p.command(args)
}

// choose returns the copy of the exercise that a command is about: the one called
// name, or else the one that the learner is in, or else the current one.
func (p practice) choose(ctx context.Context, name string) (workCopy, error) {
	started, err := p.started(ctx)
	if err != nil {
		return workCopy{}, err
	}
	id := ""
	switch progress, err := p.progress(ctx); {
	case err != nil:
		return workCopy{}, err
	case name != "":
		if id, err = p.named(name, started); err != nil {
			return workCopy{}, err
		}
	case filepath.Dir(p.here.Root) == p.home.Path(folder):
		id = filepath.Base(p.here.Root)
	case progress.Current != "":
		id = progress.Current
	case len(started) == 1:
		id = started[0]
	case len(started) == 0:
		return workCopy{}, fmt.Errorf("no exercise is started; to list them: %s", p.command("list"))
	default:
		return workCopy{}, fmt.Errorf("name the exercise; started are: %s", strings.Join(started, ", "))
	}
	c := p.copyOf(id)
	if !c.exists(ctx) {
		number, rest, _ := strings.Cut(id, "-")
		return workCopy{}, fmt.Errorf("there is no copy of %s in %s any more; to make one: make exercise N=%s NAME=%s", id, p.path(c.Root), number, rest)
	}
	return c, nil
}

// named finds the exercise that the learner calls 4-tombstone, 4/tombstone or tombstone.
func (p practice) named(name string, started []string) (string, error) {
	var found []string
	for _, id := range started {
		if calls(name, id) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		all, _, err := exercise.All(p.home)
		if err != nil {
			return "", err
		}
		for _, e := range all {
			if calls(name, e.ID()) {
				return "", fmt.Errorf("%s is not started; to start it: %s", e.ID(), e.StartCommand())
			}
		}
		return "", fmt.Errorf("there is no exercise %q; to list them: %s", name, p.command("list"))
	default:
		return "", fmt.Errorf("%q can be %s; name one of them", name, strings.Join(found, " or "))
	}
}

func calls(name, id string) bool {
	_, rest, _ := strings.Cut(id, "-")
	return name == rest || strings.TrimLeft(strings.Replace(name, "/", "-", 1), "0") == id
}

package practice

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/lesson"
)

// report writes what somebody can hand in, in Markdown: how it went with each exercise,
// and with which version of the workshop.
func (p practice) report(ctx context.Context) error {
	p.width = nil // a table's row is one line
	exercises, _, err := exercise.All(p.home)
	if err != nil {
		return err
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	commit, err := p.home.Git(ctx, "log", "-1", "--format=%h of %cs")
	if err != nil {
		return fmt.Errorf("finding the version of the workshop: %w", err)
	}
	name, _ := p.home.Git(ctx, "config", "user.name") // it may be unset

	solved, minutes := 0, 0
	var rows strings.Builder
	row := func(id, level string, r Record) {
		fmt.Fprintf(&rows, "| %s | %s | %s | %d | %d | %s | %s | %s |\n",
			id, level, stateOf(r), r.Tries, r.Hints, day(r.SolutionSeen), day(r.Started), day(r.Solved))
	}
	for _, e := range exercises {
		r := *progress.of(e.ID())
		if !r.Solved.IsZero() {
			solved++
			minutes += e.Judge.Minutes
		}
		row(e.ID(), level(e), r)
		delete(progress.Exercises, e.ID())
	}
	for _, id := range slices.Sorted(maps.Keys(progress.Exercises)) { // of another version
		row(id, "", *progress.of(id))
	}

	p.printf("# Workshop report: %s\n", cmp.Or(name, "no name (git config user.name)"))
	p.printf("%d of %d exercises are solved: about %d minutes of work.\n", solved, len(exercises), minutes)
	p.printf("| exercise | level | state | tries | hints | solution seen | started | solved |")
	p.printf("|---|---|---|---|---|---|---|---|")
	p.printf("%s", rows.String())
	lessons, err := p.lessons()
	if err != nil {
		return err
	}
	p.reportSteps(progress, lessons)
	p.reportPredictions(progress, lessons)
	p.printf("Written on %s; times are UTC. Workshop: commit %s. Program: %s on %s/%s.", now().Format(time.DateOnly), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// reportSteps says which lessons were begun, if any were.
func (p practice) reportSteps(progress Progress, lessons []lesson.Lesson) {
	done, all := progress.stepsOf(lessons)
	p.printf("%d of %d lesson steps are done.\n", done, all)
	if done == 0 {
		return
	}
	p.printf("| lesson | steps done |\n|---|---|")
	for _, l := range lessons {
		if done, all := progress.stepsOf([]lesson.Lesson{l}); done > 0 {
			played := ""
			if n := len(progress.Played[lessonName(l)]); n > 0 {
				played = fmt.Sprintf(" (%d of them with workshop play)", n)
			}
			p.printf("| %s | %d of %d%s |", lessonName(l), done, all, played)
		}
	}
	p.printf("")
}

// stateOf is how far an exercise is, in a word.
func stateOf(r Record) string {
	switch {
	case !r.Solved.IsZero():
		return "solved"
	case !r.Started.IsZero() || r.Tries > 0:
		return "started"
	default:
		return "new"
	}
}

// day says when something was, or nothing if it was not.
func day(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format("2006-01-02 15:04")
}

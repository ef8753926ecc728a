package practice

import (
	"context"
	"slices"

	"example.com/hacking-a-controller/tools/workshop/exercise"
)

// show shows the groups up to the current one, and names the later ones.
func (p practice) show(o outcome, groups []exercise.Group) {
	if o.compiler != "" {
		p.printf("\n%s\n\nThe code does not compile yet.", o.compiler)
		return
	}
	rest, passed := o.findings, o.groups(groups)
	for i, group := range groups {
		if group.Name != "" {
			p.printf("\n%d/%d %s", i+1, len(groups), group.Name)
		}
		n := min(len(group.Tests), len(rest))
		if i <= passed {
			p.showFindings(rest[:n])
		}
		rest = rest[n:]
	}
	p.showFindings(rest)
}

func (p practice) showFindings(findings []finding) {
	for _, f := range findings {
		p.printf("\n  %s: %s", f.verdict, f.what)
		if f.passed {
			continue
		}
		if f.because != "" {
			p.printf("    %s", f.because)
		}
		for _, line := range f.lines {
			p.printf("      %s", line)
		}
	}
}

// help names what helps next.
func (p practice) help(hintsLeft int) string {
	if hintsLeft > 0 {
		return "For a hint: " + p.key("h", "hint")
	}
	return "You have seen all hints. For the solution: " + p.key("s", "solution")
}

func (p practice) congratulate(ctx context.Context, e exercise.Exercise) {
	p.praise(e, p.command("solution"))
	if next, ok := p.next(ctx, e); ok {
		p.printf("Next: %s   (%s)", next.StartCommand(), next.Title)
	} else {
		p.printf("You have solved all exercises.")
	}
}

func (p practice) praise(e exercise.Exercise, solution string) {
	what := "What was wrong, and why it matters"
	switch e.Judge.Kind {
	case exercise.Build:
		what = "The workshop's code, and the reasons for it"
	case exercise.Try:
		p.printf("\nWell done, that was the last try of this lesson. Go on in %s", p.lessonFile(e))
		return
	}
	p.printf("\nWell done, it is solved. %s: %s", what, solution)
}

// next is the exercise after e that is not solved yet, or else one before it.
func (p practice) next(ctx context.Context, e exercise.Exercise) (exercise.Exercise, bool) {
	progress, err := p.progress(ctx)
	if err != nil {
		return exercise.Exercise{}, false
	}
	exercises, err := p.onTrack(progress)
	if err != nil {
		return exercise.Exercise{}, false
	}
	return after(e, exercises, func(other exercise.Exercise) bool { return progress.of(other.ID()).Solved.IsZero() })
}

// after is the first one after e that is wanted, or else one before it, or e itself.
func after(e exercise.Exercise, exercises []exercise.Exercise, wanted func(exercise.Exercise) bool) (exercise.Exercise, bool) {
	at := indexOf(exercises, e)
	for _, other := range slices.Concat(exercises[at+1:], exercises[:at+1]) {
		if wanted(other) {
			return other, true
		}
	}
	return exercise.Exercise{}, false
}

func indexOf(exercises []exercise.Exercise, e exercise.Exercise) int {
	return slices.IndexFunc(exercises, func(other exercise.Exercise) bool { return other.ID() == e.ID() })
}

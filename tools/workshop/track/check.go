package track

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Check says what the tracks name that isn't there, what is in no track, and what comes before what
// it needs.
func (c Curriculum) Check(facts Facts) error {
	var wrong []error
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf(File+": "+format, args...))
	}
	for name, page := range facts.Pages {
		want := 1
		if page.Steps > 0 {
			want = page.Steps + 2
		}
		if have := len(c.Minutes[name]); have != want {
			say("minutes of %s: there are %d, and it takes %d: of Why, of each step, and of the end; without steps, one", name, have, want)
		}
	}
	for _, t := range c.Tracks {
		c.checkNames(t, facts, say)
		c.checkOrder(t, facts, say)
	}
	deep, err := c.Track(Deep)
	if err != nil {
		return errors.Join(append(wrong, err)...)
	}
	checkWhole(deep, facts, say)
	slices.SortFunc(wrong, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(wrong...)
}

type sayer func(format string, args ...any)

// checkNames wants each item to be there, and once.
func (c Curriculum) checkNames(t Track, facts Facts, say sayer) {
	seen := map[string]bool{}
	for _, item := range t.Items {
		if item.Pause() || !facts.has(item) {
			continue
		}
		page, isPage := facts.Pages[item.Name]
		_, isExercise := facts.Exercises[item.Name]
		_, isTry := facts.Tries[item.Name]
		switch {
		case !map[Kind]bool{Read: isPage, Exercise: isExercise, Try: isTry}[item.Kind]:
			say("track %s: there is no %q", t.Name, item.Text)
		case len(item.Steps) > 0 && item.Steps[len(item.Steps)-1] > page.Steps:
			say("track %s: %q: the lesson has %d steps", t.Name, item.Text, page.Steps)
		case seen[item.Text]:
			say("track %s has %q twice", t.Name, item.Text)
		}
		seen[item.Text] = true
	}
}

// checkOrder wants a lesson after those that it needs, a step after those before it, and an
// exercise after a lesson that names it.
func (c Curriculum) checkOrder(t Track, facts Facts, say sayer) {
	done := map[string]int{} // the last step of each page so far
	last := map[string]int{} // the place of each page's last item
	for i, item := range t.Items {
		if item.Kind == Read {
			last[item.Name] = i
		}
	}
	for i, item := range t.Items {
		if item.Pause() || !facts.has(item) {
			continue
		}
		work := facts.Exercises[item.Name]
		switch item.Kind {
		case Read:
			for _, need := range c.Needs[item.Name] {
				if last[need] > i {
					say("track %s: %q comes before %s, which it needs", t.Name, item.Text, need)
				}
			}
			if len(item.Steps) > 0 && item.Steps[0] <= done[item.Name] {
				say("track %s: %q goes back: step %d was there before", t.Name, item.Text, done[item.Name])
			}
			done[item.Name] = max(1, facts.Pages[item.Name].Steps)
			if len(item.Steps) > 0 {
				done[item.Name] = item.Steps[len(item.Steps)-1]
			}
			continue
		case Try:
			work = facts.Tries[item.Name]
		}
		if !slices.ContainsFunc(work.Pages, func(page string) bool { return done[page] >= max(1, work.Step) }) {
			say("track %s: %q comes before the lesson that names it: %v", t.Name, item.Text, work.Pages)
		}
	}
}

// checkWhole wants all that there is in a track.
func checkWhole(t Track, facts Facts, say sayer) {
	has := func(kind Kind, name string) bool {
		return slices.ContainsFunc(t.Items, func(item Item) bool {
			return item.Kind == kind && item.Name == name || kind == Try && slices.Contains(facts.triesOf(item), name)
		})
	}
	for name, page := range facts.Pages {
		if !has(Read, name) {
			say("track %s lacks %s", t.Name, name)
			continue
		}
		for step := range page.Steps {
			if !slices.ContainsFunc(t.Items, func(item Item) bool { return item.Kind == Read && item.Name == name && item.Has(step+1) }) {
				say("track %s lacks step %d of %s", t.Name, step+1, name)
			}
		}
	}
	for name := range facts.Exercises {
		if !has(Exercise, name) {
			say("track %s lacks exercise:%s", t.Name, name)
		}
	}
	for name := range facts.Tries {
		if !has(Try, name) {
			say("track %s lacks try:%s; or its lesson's item says: with tries", t.Name, name)
		}
	}
}

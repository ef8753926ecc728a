package track

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Facts are what a repository has. A branch has not all that the tracks name, and what it hasn't
// is left out.
type Facts struct {
	Stages    []string // their folders
	Pages     map[string]Page
	Exercises map[string]Work
	Tries     map[string]Work
}

// A Page is one to read: a lesson, the map of a stage, or START.md.
type Page struct {
	Label string // such as "Stage 3: watch"
	Steps int
}

// A Work is an exercise or a try.
type Work struct {
	Minutes int
	Pages   []string // that name it
	Step    int      // of the page, if it's a try
}

// belongs says whether a page is the first that names it.
func (w Work) belongs(page string) bool { return len(w.Pages) > 0 && w.Pages[0] == page }

// has says whether an item is there, or at least the stage that it belongs to.
func (f Facts) has(i Item) bool {
	return i.Pause() || slices.Contains(f.Stages, i.In()) || f.Pages[i.Name].Label != ""
}

// A Stop is an item with what it takes.
type Stop struct {
	Item
	Minutes int
	Trying  int // how many of the minutes are for the tries of a lesson
}

// Stops are the items of a track. Why is read once, before the first steps of a lesson.
func (c Curriculum) Stops(t Track, facts Facts) []Stop {
	var stops []Stop
	begun := map[string]bool{}
	for _, item := range t.Items {
		if !facts.has(item) {
			continue
		}
		stop := Stop{Item: item, Minutes: item.Minutes}
		switch item.Kind {
		case Exercise:
			stop.Minutes = facts.Exercises[item.Name].Minutes
		case Try:
			stop.Minutes = facts.Tries[item.Name].Minutes
		case Read:
			for _, try := range facts.triesOf(item) {
				stop.Trying += facts.Tries[try].Minutes
			}
			stop.Minutes = c.reading(item, !begun[item.Name]) + stop.Trying
			begun[item.Name] = true
		}
		stops = append(stops, stop)
	}
	return stops
}

// Offered are the tracks of which there is something: the branch of an early stage has none of some.
func (c Curriculum) Offered(facts Facts) []Track {
	return slices.DeleteFunc(slices.Clone(c.Tracks), func(t Track) bool {
		return !slices.ContainsFunc(c.Stops(t, facts), func(s Stop) bool { return !s.Pause() })
	})
}

// reading is how long it takes to read an item and run its steps.
func (c Curriculum) reading(item Item, first bool) int {
	minutes := c.Minutes[item.Name]
	sum := 0
	for step, m := range minutes {
		why, end := step == 0, step == len(minutes)-1 && step > 0
		if why && first || end && len(item.Steps) == 0 || !why && !end && item.Has(step) {
			sum += m
		}
	}
	return sum
}

// Has says whether a step belongs to an item.
func (i Item) Has(step int) bool { return len(i.Steps) == 0 || slices.Contains(i.Steps, step) }

// triesOf returns the tries that belong to an item.
func (f Facts) triesOf(item Item) []string {
	var names []string
	for name, try := range f.Tries {
		if item.Tries && slices.Contains(try.Pages, item.Name) && item.Has(try.Step) {
			names = append(names, name)
		}
	}
	return names
}

// Table is the tracks side by side, in Markdown: a row for each page, a column for each track that
// isn't deep. link makes a link to a page.
func (c Curriculum) Table(facts Facts, link func(name, label string) string) string {
	columns := slices.DeleteFunc(c.Offered(facts), func(t Track) bool { return t.Name == Deep })
	deep, _ := c.Track(Deep)
	var text strings.Builder
	head, line := "| |", "|---|"
	for _, t := range columns {
		head, line = head+" "+t.Title+" |", line+"---|"
	}
	fmt.Fprintf(&text, "%s\n%s\n", head, line)
	var seen []string
	for _, stop := range c.Stops(deep, facts) {
		if stop.Kind != Read || slices.Contains(seen, stop.Name) {
			continue
		}
		seen = append(seen, stop.Name)
		fmt.Fprintf(&text, "| %s |", link(stop.Name, facts.Pages[stop.Name].Label))
		for _, t := range columns {
			fmt.Fprintf(&text, " %s|", c.cell(t, stop.Name, facts))
		}
		fmt.Fprintln(&text)
	}
	fmt.Fprint(&text, "| together |")
	for _, t := range columns {
		fmt.Fprintf(&text, " %s |", Hours(c.Together(t, facts)))
	}
	fmt.Fprintln(&text)
	return text.String()
}

// cell is what a track has of a page: steps; exercises: minutes.
func (c Curriculum) cell(t Track, page string, facts Facts) string {
	var steps, exercises []string
	minutes := 0
	for _, stop := range c.Stops(t, facts) {
		switch {
		case stop.May:
			continue
		case stop.Kind == Read && stop.Name == page && facts.Pages[page].Steps > 0:
			steps = append(steps, stepsText(stop.Steps))
		case stop.Kind == Read && stop.Name == page:
		case stop.Kind == Exercise && facts.Exercises[stop.Name].belongs(page):
			exercises = append(exercises, "`"+path.Base(stop.Name)+"`")
		default:
			continue
		}
		minutes += stop.Minutes
	}
	if minutes == 0 {
		return ""
	}
	what := strings.Join(steps, ", ")
	if len(exercises) > 0 {
		what = strings.TrimPrefix(what+"; ", "; ") + strings.Join(exercises, ", ")
	}
	if what != "" {
		what += ": "
	}
	return fmt.Sprintf("%s%d ", what, minutes)
}

// stepsText is 1-4,7 again.
func stepsText(steps []int) string {
	if len(steps) == 0 {
		return "all"
	}
	var parts []string
	for i := 0; i < len(steps); i++ {
		first := steps[i]
		for i+1 < len(steps) && steps[i+1] == steps[i]+1 {
			i++
		}
		switch steps[i] - first {
		case 0:
			parts = append(parts, strconv.Itoa(first))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", first, steps[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// Together is how many minutes a track takes, without pauses and without what may be left out.
func (c Curriculum) Together(t Track, facts Facts) int {
	sum := 0
	for _, stop := range c.Stops(t, facts) {
		if !stop.Pause() && !stop.May {
			sum += stop.Minutes
		}
	}
	return sum
}

// Hours is a number of minutes in words.
func Hours(minutes int) string {
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %02d min", minutes/60, minutes%60)
}

// begins is when a day begins.
var begins = time.Date(1, 1, 1, 9, 0, 0, 0, time.UTC)

// Agenda is a track by the clock, in Markdown. What may be left out has no time.
func (c Curriculum) Agenda(t Track, facts Facts, link func(name, label string) string) string {
	var text strings.Builder
	fmt.Fprint(&text, "| time | what | minutes |\n|---|---|---|\n")
	clock := begins
	for _, stop := range c.Stops(t, facts) {
		at := clock.Format("15:04")
		if stop.Kind == Evening {
			fmt.Fprintf(&text, "| %s | end of the day | |\n", at)
			clock = begins
			continue
		}
		what := facts.Name(stop, link)
		if stop.May {
			fmt.Fprintf(&text, "| may | %s | %d |\n", what, stop.Minutes)
			continue
		}
		fmt.Fprintf(&text, "| %s | %s | %d |\n", at, what, stop.Minutes)
		clock = clock.Add(time.Duration(stop.Minutes) * time.Minute)
	}
	fmt.Fprintf(&text, "| %s | the end | |\n", clock.Format("15:04"))
	return text.String()
}

// Name is what people call a stop, in Markdown.
func (f Facts) Name(stop Stop, link func(name, label string) string) string {
	page := f.Pages[stop.Name]
	switch {
	case stop.Pause():
		return string(stop.Kind)
	case stop.Kind != Read:
		return fmt.Sprintf("%s `%s`", stop.Kind, path.Base(stop.Name))
	case page.Steps > 0:
		return link(stop.Name, page.Label) + ": " + stop.stepsText()
	}
	return link(stop.Name, page.Label)
}

// stepsText says which steps of a lesson it has.
func (i Item) stepsText() string {
	switch len(i.Steps) {
	case 0:
		return "all steps"
	case 1:
		return fmt.Sprintf("step %d", i.Steps[0])
	default:
		return "steps " + stepsText(i.Steps)
	}
}

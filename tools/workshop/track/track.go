// Package track knows the ways through the workshop: tools/workshop/tracks.yaml lists for each
// track what comes after what. It reads nothing else, so what there is comes as Facts.
package track

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// File is where the tracks are.
const File = "tools/workshop/tracks.yaml"

// Deep is the track that has everything. Its order is that of the workshop.
const Deep = "deep"

// A Curriculum is all of the file.
type Curriculum struct {
	// Minutes are those of each page: of Why, of each step, and of what comes after the steps. A
	// page without steps has one number.
	Minutes map[string][]int `json:"minutes"`
	// Needs are the lessons that come before a lesson in each track that has both.
	Needs  map[string][]string `json:"needs"`
	Tracks []Track             `json:"tracks"`
}

// A Track is one way, for those who have that much time.
type Track struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Items []Item `json:"items"`
}

// A Kind is what one does.
type Kind string

// The kinds of items.
const (
	Read     Kind = ""
	Exercise Kind = "exercise"
	Try      Kind = "try"
	Break    Kind = "break"
	Lunch    Kind = "lunch"
	Evening  Kind = "evening" // the next item is on the next day
)

// An Item is one thing to do: steps of a lesson, an exercise, a break.
type Item struct {
	Text    string // as it is in the file
	Kind    Kind
	Name    string // 03-watch or START.md; of an exercise 03-watch/first-watch
	Steps   []int  // of a lesson; none means all of it
	Tries   bool   // the tries of these steps belong to it
	May     bool   // it can be left out
	Minutes int    // of a break
}

// Pause says whether nothing is done.
func (i Item) Pause() bool { return i.Kind == Break || i.Kind == Lunch || i.Kind == Evening }

// In returns the name of the folder of its stage, or of the page that it is.
func (i Item) In() string {
	stage, _, _ := strings.Cut(i.Name, "/")
	return stage
}

var (
	pause = regexp.MustCompile(`^(?:(break|lunch) (\d+)|(evening))$`)
	work  = regexp.MustCompile(`^(?:(exercise|try):)?([A-Z]+\.md|\d\d-[^ #:]+)(?:#([0-9,-]+))?( with tries)?( may)?$`)
)

// UnmarshalJSON reads a line such as "03-watch#1-4,7 with tries may".
func (i *Item) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &i.Text); err != nil {
		return err
	}
	if match := pause.FindStringSubmatch(i.Text); match != nil {
		i.Kind = Kind(match[1] + match[3])
		i.Minutes, _ = strconv.Atoi("0" + match[2]) // digits, by the expression
		return nil
	}
	match := work.FindStringSubmatch(i.Text)
	if match == nil {
		return fmt.Errorf("%q is no item; they look like 03-watch#1-4,7 with tries may, exercise:03-watch/first-watch, break 15, lunch 60 and evening", i.Text)
	}
	i.Kind, i.Name, i.Tries, i.May = Kind(match[1]), match[2], match[4] != "", match[5] != ""
	steps, ok := steps(match[3])
	if i.Steps = steps; !ok {
		return fmt.Errorf("the steps of %q don't rise; they look like 1-4,7", i.Text)
	}
	return nil
}

// steps reads 1-4,7.
func steps(text string) (numbers []int, rising bool) {
	last := 0
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		first, end, isRange := strings.Cut(part, "-")
		if !isRange {
			end = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(end)
		if errors.Join(err, err2) != nil || from <= last || to < from || to > 99 {
			return nil, false
		}
		for last = from; last <= to; last++ {
			numbers = append(numbers, last)
		}
		last = to
	}
	return numbers, true
}

// Parse reads a file.
func Parse(content []byte) (Curriculum, error) {
	var c Curriculum
	if err := yaml.UnmarshalStrict(content, &c); err != nil {
		return Curriculum{}, fmt.Errorf("%s: %w", File, err)
	}
	return c, nil
}

// Load reads the file of a repository. One that has none has no tracks.
func Load(r repository.Repository) (Curriculum, error) {
	content, err := os.ReadFile(r.Path(File))
	if errors.Is(err, fs.ErrNotExist) {
		return Curriculum{}, nil
	}
	if err != nil {
		return Curriculum{}, fmt.Errorf("reading the tracks: %w", err)
	}
	return Parse(content)
}

// Track returns the one of that name.
func (c Curriculum) Track(name string) (Track, error) {
	var names []string
	for _, t := range c.Tracks {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Track{}, fmt.Errorf("there is no track %q; there is: %s", name, strings.Join(names, ", "))
}

// Order is that of the workshop: where each lesson, exercise and try first comes in the track that
// has all of them, from 1. Of what it doesn't have that is 0.
func (c Curriculum) Order(kind Kind) func(name string) int {
	places := map[string]int{}
	deep, _ := c.Track(Deep) // without it, nothing has a place
	for i, item := range slices.Backward(deep.Items) {
		if item.Kind == kind {
			places[item.Name] = i + 1
		}
	}
	return func(name string) int { return places[name] }
}

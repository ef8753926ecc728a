package practice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/google/renameio/v2"

	"example.com/hacking-a-controller/tools/workshop/exercise"
)

// Progress is what the learner did so far: .workshop/progress.json.
type Progress struct {
	// Current is the exercise that commands without a name are about.
	Current   string             `json:"current,omitempty"`
	Exercises map[string]*Record `json:"exercises"`
	// Track is the one that the learner follows, Item the text of the item that was reached, and
	// Reading that this is a lesson: then the current exercise waits.
	Track   string `json:"track,omitempty"`
	Item    string `json:"item,omitempty"`
	Reading bool   `json:"reading,omitempty"`
	// Lesson is the folder of the one whose step was checked last.
	Lesson string `json:"lesson,omitempty"`
	// Steps are those that are done of each lesson, such as 4/queue.
	Steps map[string][]int `json:"steps,omitempty"`
	// Predictions are the answers to questions, in their order, by lesson and question, such as
	// 4/cache/replaced.
	Predictions map[string][]Prediction `json:"predictions,omitempty"`
	// Played are those of them that workshop play has done.
	Played map[string][]int `json:"played,omitempty"`

	unknown unknown
}

// A Record is how it went with one exercise.
type Record struct {
	Started      time.Time `json:"started,omitzero"`
	Tries        int       `json:"tries,omitempty"`
	Hints        int       `json:"hints,omitempty"`       // of all groups
	SolutionSeen time.Time `json:"solutionSeen,omitzero"` // before it was solved
	Solved       time.Time `json:"solved,omitzero"`

	Passed     int            `json:"passed,omitempty"`     // groups, from the first on, at the last check
	GroupHints map[string]int `json:"groupHints,omitempty"` // by the name of the group, if it has one

	Shown []string `json:"shown,omitempty"` // the tries whose solutions were put into the copy

	unknown unknown
}

// UnmarshalJSON keeps fields that it does not know.
func (p *Progress) UnmarshalJSON(object []byte) error {
	type known Progress // without these methods
	return p.unknown.read(object, (*known)(p))
}

// MarshalJSON writes those fields again.
func (p Progress) MarshalJSON() ([]byte, error) {
	type known Progress
	return p.unknown.write(known(p))
}

// UnmarshalJSON keeps fields that it does not know.
func (r *Record) UnmarshalJSON(object []byte) error {
	type known Record
	return r.unknown.read(object, (*known)(r))
}

// MarshalJSON writes those fields again.
func (r Record) MarshalJSON() ([]byte, error) {
	type known Record
	return r.unknown.write(known(r))
}

// group is the current one: the first that does not pass, or else the last.
func (r *Record) group(e exercise.Exercise) exercise.Group {
	return e.Judge.Groups[min(r.Passed, len(e.Judge.Groups)-1)]
}

// hints is how many hints of a group were shown.
func (r *Record) hints(group exercise.Group) int {
	shown := r.Hints
	if group.Name != "" {
		shown = r.GroupHints[group.Name]
	}
	return min(shown, len(group.Hints))
}

// sawHint says how many hints of a group were shown.
func (r *Record) sawHint(group exercise.Group, shown int) {
	if group.Name == "" {
		r.Hints = max(r.Hints, shown)
		return
	}
	if r.GroupHints == nil {
		r.GroupHints = map[string]int{}
	}
	r.GroupHints[group.Name] = max(r.GroupHints[group.Name], shown)
	r.Hints = 0
	for _, shown := range r.GroupHints {
		r.Hints += shown
	}
}

func (p Progress) of(id string) *Record {
	if p.Exercises[id] == nil {
		p.Exercises[id] = &Record{}
	}
	return p.Exercises[id]
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

func (p practice) progressFile() string { return p.home.Path(folder, "progress.json") }

// progress returns what the file holds now. To change it, update it.
func (p practice) progress(ctx context.Context) (Progress, error) {
	unlock, err := lock(p.progressFile())
	if err != nil {
		return Progress{}, fmt.Errorf("reading your progress: %w", err)
	}
	defer unlock()
	progress, found, err := p.read()
	if err == nil && !found {
		err = p.beginAnew(ctx, progress)
	}
	return progress, err
}

// update changes the file. No other command reads or writes it meanwhile, so change has
// to be quick, and must not ask for the progress.
func (p practice) update(change func(*Progress)) error {
	unlock, err := lock(p.progressFile())
	if err != nil {
		return fmt.Errorf("writing your progress: %w", err)
	}
	defer unlock()
	progress, _, err := p.read()
	if err != nil {
		return err
	}
	change(&progress)
	return p.write(progress)
}

// record is update for one exercise.
func (p practice) record(id string, change func(*Record)) error {
	return p.update(func(progress *Progress) {
		change(progress.of(id))
		if progress.Current == "" {
			progress.Current = id
		}
	})
}

// read reads the file, if it is found. One that cannot be read is renamed, and a message says so.
func (p practice) read() (progress Progress, found bool, err error) {
	empty := Progress{Exercises: map[string]*Record{}}
	path := p.progressFile()
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, false, nil
	}
	if err != nil {
		return Progress{}, false, fmt.Errorf("reading your progress: %w", err)
	}
	wrong := json.Unmarshal(content, &progress)
	if wrong == nil && progress.Exercises == nil {
		wrong = errors.New("it has no exercises")
	}
	if wrong == nil {
		return progress, true, nil
	}
	aside, err := putAside(path)
	if err != nil {
		return Progress{}, false, fmt.Errorf("putting your progress aside, which cannot be read: %w", err)
	}
	p.printf("%s cannot be read (%v). It is now %s, and a new file starts: tries and hints count from 0.", p.path(path), wrong, p.path(aside))
	return empty, true, p.write(empty)
}

// beginAnew says that the file is gone, if there was one.
func (p practice) beginAnew(ctx context.Context, empty Progress) error {
	started, err := p.started(ctx)
	if err != nil || len(started) == 0 {
		return err
	}
	p.printf("%s is missing, although exercises are started: tries and hints count from 0.", p.path(p.progressFile()))
	return p.write(empty)
}

func putAside(path string) (string, error) {
	for i := 1; ; i++ {
		aside := path + ".broken-" + strconv.Itoa(i)
		if _, err := os.Lstat(aside); err != nil {
			return aside, os.Rename(path, aside)
		}
	}
}

// write replaces the file as a whole: nobody reads half of it.
func (p practice) write(progress Progress) error {
	content, err := json.MarshalIndent(progress, "", "  ")
	if err != nil {
		return fmt.Errorf("writing your progress: %w", err)
	}
	if err := renameio.WriteFile(p.progressFile(), append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing your progress: %w", err)
	}
	return nil
}

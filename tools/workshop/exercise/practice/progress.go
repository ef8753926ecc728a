package practice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
}

// group is the one in hand: the first that does not pass, or else the last.
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

// addHint counts one more.
func (r *Record) addHint(group exercise.Group) {
	r.Hints++
	if group.Name == "" {
		return
	}
	if r.GroupHints == nil {
		r.GroupHints = map[string]int{}
	}
	r.GroupHints[group.Name]++
}

func (p Progress) of(id string) *Record {
	if p.Exercises[id] == nil {
		p.Exercises[id] = &Record{}
	}
	return p.Exercises[id]
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// progress reads the file. One that cannot be read is put aside, and said.
func (p practice) progress(ctx context.Context) (Progress, error) {
	empty := Progress{Exercises: map[string]*Record{}}
	path := p.home.Path(folder, "progress.json")
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, p.beginAnew(ctx, empty)
	}
	if err != nil {
		return Progress{}, fmt.Errorf("reading your progress: %w", err)
	}
	var progress Progress
	wrong := json.Unmarshal(content, &progress)
	if wrong == nil && progress.Exercises == nil {
		wrong = errors.New("it has no exercises")
	}
	if wrong == nil {
		return progress, nil
	}
	aside, err := putAside(path)
	if err != nil {
		return Progress{}, fmt.Errorf("putting your progress aside, which cannot be read: %w", err)
	}
	p.say("%s cannot be read (%v). It is %s now, and a new one begins: tries and hints count from nought.", p.path(path), wrong, p.path(aside))
	return empty, p.write(empty)
}

// beginAnew says that the file is gone, if there was one.
func (p practice) beginAnew(ctx context.Context, empty Progress) error {
	started, err := p.started(ctx)
	if err != nil || len(started) == 0 {
		return err
	}
	p.say("%s is missing, though exercises are started: tries and hints count from nought.", p.path(p.home.Path(folder, "progress.json")))
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

// record changes what is known of one exercise. It reads the file anew, as another
// command may have written it meanwhile.
func (p practice) record(ctx context.Context, id string, change func(*Record)) error {
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	change(progress.of(id))
	if progress.Current == "" {
		progress.Current = id
	}
	return p.write(progress)
}

// write replaces the file as a whole: nobody reads half of it.
func (p practice) write(progress Progress) error {
	content, err := json.MarshalIndent(progress, "", "  ")
	if err != nil {
		return fmt.Errorf("writing your progress: %w", err)
	}
	path := p.home.Path(folder, "progress.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing your progress: %w", err)
	}
	if err := renameio.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing your progress: %w", err)
	}
	return nil
}

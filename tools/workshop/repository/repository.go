// Package repository knows this repository: where it is, which stages it has, and
// how to make a clean copy of it.
package repository

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// A Repository is a working tree of this repository.
type Repository struct {
	// Root is the absolute path of its top.
	Root string
}

// A Stage is a module of the workshop.
type Stage struct {
	Number int
	Folder string // its name, such as 04-informer-queue
}

// Find returns the repository that dir lies in. Its error says what to do if there
// is none.
func Find(ctx context.Context, dir string) (Repository, error) {
	root, err := Git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return Repository{}, fmt.Errorf("%w; run this in a git clone of the workshop", err)
	}
	r := Repository{Root: filepath.FromSlash(root)}
	if _, err := os.Stat(r.Path("tools", "go.mod")); err != nil {
		return Repository{}, fmt.Errorf("%s is not the workshop's repository: it has no tools/go.mod; go to your clone of it", r.Root)
	}
	return r, nil
}

// Home returns the working tree that r is a worktree of, which is r itself if it is
// none. The progress of exercises is kept there.
func (r Repository) Home(ctx context.Context) (Repository, error) {
	common, err := r.Git(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return Repository{}, err
	}
	if filepath.Base(common) != ".git" {
		return r, nil // a bare repository or a submodule: there is no better place than here
	}
	return Repository{Root: filepath.Dir(common)}, nil
}

// Path joins elements to the root.
func (r Repository) Path(elements ...string) string {
	return filepath.Join(append([]string{r.Root}, elements...)...)
}

// Git runs git in r; see the function of that name.
func (r Repository) Git(ctx context.Context, args ...string) (string, error) {
	return Git(ctx, r.Root, args...)
}

// StageFolders is the pattern of the folders of stages, and of what is made of them.
const StageFolders = "[0-9][0-9]-*"

// Stages returns the stages that r has, in order.
func (r Repository) Stages() ([]Stage, error) {
	modules, err := fs.Glob(os.DirFS(r.Root), StageFolders+"/go.mod")
	if err != nil {
		return nil, fmt.Errorf("looking for stages: %w", err)
	}
	if len(modules) == 0 {
		return nil, fmt.Errorf("%s has no stage: no folder like 01-client-list with a go.mod", r.Root)
	}
	var stages []Stage
	for _, module := range modules {
		folder := path.Dir(module)
		number, _ := strconv.Atoi(folder[:2]) // two digits, by the pattern
		stages = append(stages, Stage{Number: number, Folder: folder})
	}
	return stages, nil
}

// Stage returns the stage that is called number, such as 4 or 04. Its error names
// those that there are.
func (r Repository) Stage(number string) (Stage, error) {
	stages, err := r.Stages()
	if err != nil {
		return Stage{}, err
	}
	n, wrong := strconv.Atoi(number)
	var have []string
	for _, stage := range stages {
		if wrong == nil && stage.Number == n {
			return stage, nil
		}
		have = append(have, strconv.Itoa(stage.Number))
	}
	return Stage{}, fmt.Errorf("there is no stage %s here; there is: %s", number, strings.Join(have, ", "))
}

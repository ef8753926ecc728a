package practice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// folder holds the copies and the progress. Git ignores it.
const folder = ".workshop"

// A workCopy is the worktree in which an exercise is solved.
type workCopy struct {
	repository.Repository
	ID string // such as 4-tombstone
}

func (p practice) copyOf(id string) workCopy {
	return workCopy{repository.Repository{Root: p.home.Path(folder, id)}, id}
}

func (c workCopy) branch() string { return "exercise/" + c.ID }

// broken is the name of the commit that breaks the code, as git takes it.
func (c workCopy) broken() string { return "broken/" + c.ID }

func (c workCopy) brokenRef() string { return "refs/" + c.broken() }

// isWorktree says whether there is a worktree at the copy's path.
func (c workCopy) isWorktree(ctx context.Context) bool {
	root, err := c.Git(ctx, "rev-parse", "--show-toplevel")
	return err == nil && root == c.Root
}

// exists says whether the copy is there and whole.
func (c workCopy) exists(ctx context.Context) bool {
	if _, err := os.Stat(c.Root); err != nil {
		return false
	}
	_, err := c.Git(ctx, "rev-parse", "--verify", "--quiet", c.brokenRef())
	return err == nil && c.isWorktree(ctx)
}

// exercise reads the exercise as it is in the copy. That the learner took away what it
// names, such as a file to read, is no matter here.
func (c workCopy) exercise() (exercise.Exercise, error) {
	number, name, _ := strings.Cut(c.ID, "-")
	stage, err := c.Stage(number)
	if err != nil {
		return exercise.Exercise{}, err
	}
	e, err := exercise.Load(c.Repository, stage, name)
	if len(e.Judge.Groups) > 0 {
		err = nil
	}
	return e, err
}

// folders are those in which the learner works.
func (c workCopy) folders(e exercise.Exercise) []string {
	var folders []string
	for _, folder := range e.Folders() {
		folders = append(folders, c.Path(folder))
	}
	return folders
}

// repairMoved tells git where the copies are in a clone that was moved: each has the other's path. What
// can't be repaired is a copy that is missing.
func repairMoved(ctx context.Context, home repository.Repository) {
	links, _ := filepath.Glob(home.Path(folder, "*", ".git"))
	for _, link := range links {
		content, err := os.ReadFile(link)
		if err != nil {
			continue
		}
		if _, err := os.Stat(strings.TrimSpace(strings.TrimPrefix(string(content), "gitdir: "))); errors.Is(err, os.ErrNotExist) {
			_, _ = home.Git(ctx, "worktree", "repair", filepath.Dir(link))
		}
	}
}

// started returns the exercises that have a copy.
func (p practice) started(ctx context.Context) ([]string, error) {
	refs, err := p.home.Git(ctx, "for-each-ref", "--format=%(refname)", "refs/broken")
	if err != nil {
		return nil, fmt.Errorf("listing the started exercises: %w", err)
	}
	var started []string
	for ref := range strings.FieldsSeq(refs) {
		id := strings.TrimPrefix(ref, "refs/broken/")
		if p.copyOf(id).exists(ctx) {
			started = append(started, id)
		}
	}
	return started, nil
}

// make makes the copy of an exercise from the last commit of home. What is half made
// when something goes wrong is taken away again.
func (c workCopy) make(ctx context.Context, home repository.Repository, e exercise.Exercise) (err error) {
	if _, err := home.Git(ctx, "cat-file", "-e", "HEAD:"+e.Yaml()); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s is not committed yet, and a copy is made from the last commit; commit it first", e.Folder())
	}
	_, err = home.Git(ctx, "worktree", "add", "--quiet", "-b", c.branch(), c.Root, "HEAD")
	half := err == nil || ctx.Err() != nil // or git has made nothing
	defer func() {
		if err != nil && half {
			ctx := context.WithoutCancel(ctx)
			_, _ = home.Git(ctx, "worktree", "remove", "--force", "--force", c.Root) // twice: git locks what it is making
			_, _ = home.Git(ctx, "branch", "--quiet", "-D", c.branch())
		}
	}()
	if err != nil {
		return fmt.Errorf("making the copy %s: %w", c.Root, err)
	}
	return c.breakCode(ctx, e)
}

// breakCode commits the exercise on top of what is checked out, as its start. Most tries begin with
// the code of the stage as it is.
func (c workCopy) breakCode(ctx context.Context, e exercise.Exercise) error {
	if e.Breaks {
		if _, err := c.Git(ctx, "apply", "--index", e.Patch()); err != nil {
			return fmt.Errorf("%s does not apply to the code of this commit; that is a mistake of the workshop, not yours: %w", e.Patch(), err)
		}
	}
	if _, err := exercise.Find(c.Repository, strconv.Itoa(e.Stage.Number), e.Name); err != nil {
		return fmt.Errorf("in the last commit, %w", err)
	}
	if err := c.Commit(ctx, "Exercise: "+e.ID()); err != nil {
		return err
	}
	_, err := c.Git(ctx, "update-ref", c.brokenRef(), "HEAD")
	return err
}

// outdated says whether home's last commit has the exercise, and has its code in another
// form than the copy's start.
func (c workCopy) outdated(ctx context.Context, home repository.Repository, e exercise.Exercise) (bool, error) {
	if _, err := home.Git(ctx, "cat-file", "-e", "HEAD:"+e.Yaml()); err != nil {
		return false, nil // a branch without it
	}
	changed, err := home.Diff(ctx, append([]string{"--name-only", c.broken() + "^", "HEAD", "--"}, e.Folders()...)...)
	if err != nil {
		return false, fmt.Errorf("checking for a new version of the exercise: %w", err)
	}
	return changed != "", nil
}

// renew makes the copy what it is at the start in home's last commit. What git ignores
// stays, and so does the old start if the new one cannot be made.
func (c workCopy) renew(ctx context.Context, home repository.Repository, e exercise.Exercise) error {
	commit, err := home.Git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if err := c.checkOut(ctx, commit); err != nil {
		return fmt.Errorf("renewing the copy: %w", err)
	}
	if err := c.breakCode(ctx, e); err != nil {
		return errors.Join(err, c.reset(context.WithoutCancel(ctx)))
	}
	return nil
}

// unregister removes the copy from git's list if its folder was deleted by hand: git does
// not notice that. Worktrees of others are theirs, even those whose disk is away.
func (c workCopy) unregister(ctx context.Context, home repository.Repository) error {
	worktrees, err := home.Git(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return fmt.Errorf("looking for git's worktrees: %w", err)
	}
	if !slices.Contains(strings.Split(worktrees, "\n"), "worktree "+c.Root) {
		return nil
	}
	if err := os.Remove(c.Root); err != nil && !os.IsNotExist(err) { // it is empty: git takes one that is whole, or none
		return fmt.Errorf("removing the empty folder of the copy: %w", err)
	}
	if _, err := home.Git(ctx, "worktree", "remove", "--force", "--force", c.Root); err != nil {
		return fmt.Errorf("removing the missing copy from git's list: %w", err)
	}
	return nil
}

// bringBack makes the worktree again of a branch that is left over.
func (c workCopy) bringBack(ctx context.Context, home repository.Repository) error {
	if _, err := home.Git(ctx, "rev-parse", "--verify", "--quiet", c.brokenRef()); err != nil {
		return fmt.Errorf("the branch %s already exists, and is not of an exercise that was started here; rename it, or delete it with: git branch -D %s", c.branch(), c.branch())
	}
	if _, err := home.Git(ctx, "worktree", "add", "--quiet", c.Root, c.branch()); err != nil {
		return fmt.Errorf("restoring the copy of branch %s: %w", c.branch(), err)
	}
	return nil
}

// save writes what the learner changed, committed or not, into a patch next to the
// copy and returns its path; "" if nothing was.
func (c workCopy) save(ctx context.Context) (string, error) {
	if _, err := c.Git(ctx, "add", "--all"); err != nil {
		return "", fmt.Errorf("saving your changes: %w", err)
	}
	changes, err := c.Diff(ctx, "--cached", "--binary", c.broken())
	if err != nil || changes == "" {
		return "", err
	}
	for i := 1; ; i++ {
		path := c.Root + "-" + strconv.Itoa(i) + ".patch"
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("saving your changes: %w", err)
		}
		if _, err := file.WriteString(changes + "\n"); err != nil {
			_ = file.Close()
			return "", fmt.Errorf("saving your changes: %w", err)
		}
		return path, file.Close()
	}
}

// keep gives a branch to what the learner committed on the branch of the exercise, or on
// none, and returns the names. What is on other branches is safe there.
func (c workCopy) keep(ctx context.Context) (kept []string, err error) {
	for _, tip := range []string{"HEAD", "refs/heads/" + c.branch()} {
		if _, err := c.Git(ctx, "rev-parse", "--verify", "--quiet", tip); err != nil {
			continue // the learner deleted the branch
		}
		commit, err := c.Git(ctx, "rev-list", "-1", tip, "--not", c.broken(), "--exclude="+c.branch(), "--branches")
		if err != nil {
			return nil, fmt.Errorf("finding your commits: %w", err)
		}
		if commit == "" {
			continue
		}
		name := c.freeBranch(ctx)
		if _, err := c.Git(ctx, "branch", "--no-track", name, commit); err != nil {
			return nil, fmt.Errorf("keeping your commits: %w", err)
		}
		kept = append(kept, name)
	}
	return kept, nil
}

func (c workCopy) freeBranch(ctx context.Context) string {
	for i := 1; ; i++ {
		name := "kept/" + c.ID + "-" + strconv.Itoa(i)
		if _, err := c.Git(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+name); err != nil {
			return name
		}
	}
}

// reset makes the copy what it was at the start. What git ignores stays.
func (c workCopy) reset(ctx context.Context) error { return c.checkOut(ctx, c.broken()) }

// checkOut makes the branch of the exercise what a commit is, and the copy with it.
func (c workCopy) checkOut(ctx context.Context, commit string) error {
	if _, err := c.Git(ctx, "checkout", "--quiet", "--force", "-B", c.branch(), commit); err != nil {
		return fmt.Errorf("checking out the start: %w", err)
	}
	if _, err := c.Git(ctx, "clean", "--quiet", "--force", "-d"); err != nil {
		return fmt.Errorf("removing new files: %w", err)
	}
	return nil
}

// Package branch cuts the branches stage-1, stage-2 and so on: branch stage-N is the
// workshop up to stage N, for those who begin there or want to see what came since.
package branch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Cutter cuts branches.
type Cutter struct {
	// Generate writes again what is generated from the stages. It is called in a clone
	// that has lost some of them.
	Generate func(context.Context, repository.Repository) error
}

// A Branch is one that was cut.
type Branch struct {
	Name   string
	Stage  repository.Stage
	Commit string
}

// trailer marks a commit as cut, and tells from which.
const trailer = "Cut-From"

// Cut makes in r a branch for each stage from the present commit. The same commit
// gives the same branches, down to the names of their commits: nothing in them depends
// on who cuts them, where or when. A branch of that name with commits of somebody's
// own is never touched.
func (c Cutter) Cut(ctx context.Context, r repository.Repository) ([]Branch, error) {
	if err := expectWhole(ctx, r); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "branches-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to cut in: %w", err)
	}
	defer os.RemoveAll(dir)
	clone, err := r.Clone(ctx, filepath.Join(dir, "clone"))
	if err != nil {
		return nil, err
	}
	branches, err := c.cutIn(ctx, clone)
	if err != nil {
		return nil, err
	}
	return branches, move(ctx, clone, r, branches)
}

// cutIn makes the branches in a clone of which nothing else is wanted.
func (c Cutter) cutIn(ctx context.Context, clone repository.Repository) ([]Branch, error) {
	described, err := clone.Git(ctx, "log", "-1", "--format=%H %cI")
	if err != nil {
		return nil, err
	}
	from, date, _ := strings.Cut(described, " ")
	stages, err := clone.Stages()
	if err != nil {
		return nil, err
	}
	var branches []Branch
	for i, stage := range stages {
		b := Branch{Name: fmt.Sprintf("stage-%d", stage.Number), Stage: stage}
		if _, err := clone.Git(ctx, "switch", "--quiet", "--force-create", b.Name, from); err != nil {
			return nil, err
		}
		if err := trim(clone, stage, stages[i+1:]); err != nil {
			return nil, fmt.Errorf("cutting %s: %w", b.Name, err)
		}
		if err := c.Generate(ctx, clone); err != nil {
			return nil, fmt.Errorf("cutting %s: %w", b.Name, err)
		}
		message := fmt.Sprintf("The workshop up to %s\n\n%s: %s", stage.Folder, trailer, from)
		if err := clone.CommitOn(ctx, date, message); err != nil {
			return nil, err
		}
		if b.Commit, err = clone.Git(ctx, "rev-parse", "HEAD"); err != nil {
			return nil, err
		}
		branches = append(branches, b)
	}
	return branches, nil
}

// move fetches the branches from the clone into r: all, or none.
func move(ctx context.Context, clone, r repository.Repository, branches []Branch) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--force", "--atomic", clone.Root}
	for _, b := range branches {
		if err := expectFree(ctx, r, b); err != nil {
			return err
		}
		ref := "refs/heads/" + b.Name
		args = append(args, ref+":"+ref)
	}
	_, err := r.Git(ctx, args...)
	return err
}

// expectWhole refuses a commit that has lost stages already.
func expectWhole(ctx context.Context, r repository.Repository) error {
	from, err := cutFrom(ctx, r, "HEAD")
	if err == nil && from != "" {
		err = fmt.Errorf("the present commit was itself cut, from %.12s; go back there first: git switch main", from)
	}
	return err
}

// expectFree refuses a branch whose place somebody needs.
func expectFree(ctx context.Context, r repository.Repository, b Branch) error {
	tip, err := r.Git(ctx, "for-each-ref", "--format=%(objectname)", "refs/heads/"+b.Name)
	if err != nil || tip == "" || tip == b.Commit {
		return err
	}
	from, err := cutFrom(ctx, r, tip)
	if err != nil {
		return err
	}
	if from == "" {
		return fmt.Errorf("branch %s has commits of your own; to keep them under another name: git branch -m %s my-%s", b.Name, b.Name, b.Name)
	}
	worktrees, err := r.Git(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	if strings.Contains(worktrees+"\n", "\nbranch refs/heads/"+b.Name+"\n") {
		return fmt.Errorf("branch %s is checked out, here or in a worktree (git worktree list); go to another one there: git switch main", b.Name)
	}
	return nil
}

// cutFrom says from which commit another one was cut, or nothing if it was not.
func cutFrom(ctx context.Context, r repository.Repository, commit string) (string, error) {
	return r.Git(ctx, "log", "-1", "--format=%(trailers:key="+trailer+",valueonly,separator=)", commit)
}

package branch

import (
	"context"
	"fmt"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// Switch goes to branch stage-N of r. Where there is none yet, the branches are cut
// first. Uncommitted work stays where it is: with any, Switch refuses.
func (c Cutter) Switch(ctx context.Context, r repository.Repository, number string) error {
	name := "stage-" + number
	if err := expectClean(ctx, r, name); err != nil {
		return err
	}
	// Where the branches are published, git makes one of a remote's.
	found, err := r.Git(ctx, "for-each-ref", "refs/heads/"+name, "refs/remotes/*/"+name)
	if err != nil {
		return err
	}
	if found == "" {
		if err := expectWhole(ctx, r); err != nil {
			return err
		}
		if _, err := r.Stage(number); err != nil {
			return err
		}
		if _, err := c.Cut(ctx, r); err != nil {
			return err
		}
	}
	_, err = r.Git(ctx, "switch", "--quiet", name)
	return err
}

// expectClean refuses to go on as long as something is not committed. Files that git
// ignores do not count: they stay, on every branch.
func expectClean(ctx context.Context, r repository.Repository, name string) error {
	status, err := r.Git(ctx, "status", "--porcelain", "--untracked-files=normal")
	if err != nil {
		return err
	}
	if status == "" {
		return nil
	}
	lines := strings.Split(status, "\n")
	more := ""
	if len(lines) > 1 {
		more = fmt.Sprintf(" and %d more", len(lines)-1)
	}
	return fmt.Errorf("%s%s is not committed, so not going to %s; commit it, or put it aside: git stash --include-untracked", lines[0][3:], more, name)
}

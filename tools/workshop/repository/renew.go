package repository

import (
	"context"
	"fmt"
	"os"
)

// Renew is Copy into a folder that may hold an earlier copy. What is the same there
// stays, and everything else goes, also what git ignores.
func (r Repository) Renew(ctx context.Context, dir string) (Repository, error) {
	copied := Repository{Root: dir}
	err := r.renew(ctx, copied)
	if err == nil || ctx.Err() != nil {
		return copied, err
	}
	// There is none yet, or a run that was killed has left half of one.
	if err := os.RemoveAll(dir); err != nil {
		return Repository{}, fmt.Errorf("removing an unusable copy of the repository: %w", err)
	}
	return r.Copy(ctx, dir)
}

func (r Repository) renew(ctx context.Context, copied Repository) error {
	// Without the variable, git would clean a repository that dir happens to lie in.
	env := []string{"GIT_DIR=" + copied.Path(".git")}
	for _, args := range [][]string{
		{"config", "gc.autoDetach", "false"},
		{"fetch", "--quiet", "--no-tags", r.Root, "HEAD"},
		{"checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"},
		{"clean", "--quiet", "--force", "--force", "-d", "-x"},
	} {
		if _, err := gitWith(ctx, copied.Root, env, "", args...); err != nil {
			return err
		}
	}
	return r.addChangesTo(ctx, copied)
}

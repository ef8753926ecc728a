package proof

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// NewCommand returns the command that proves exercises.
func NewCommand() *cobra.Command {
	var in string
	timeout := 30 * time.Minute
	command := &cobra.Command{
		Use:   "prove [STAGE | STAGE/NAME]...",
		Short: "Prove that the exercises are honest",
		Example: "  workshop exercise prove\n" +
			"  workshop exercise prove 4 5/status-echo",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			cwd, err := os.Getwd()
			if err != nil {
				return err
			}
			r, err := repository.Find(cmd.Context(), cwd)
			if err != nil {
				return err
			}
			clone, remove, err := cloneOf(cmd.Context(), r, in)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, remove()) }()
			targets, err := Targets(clone, args)
			if err != nil {
				return err
			}
			assets, err := assetsFor(cmd.Context(), r, clone)
			if err != nil {
				return err
			}
			p := Prover{Clone: clone, Assets: assets, Timeout: timeout, Out: cmd.OutOrStdout()}
			if note := p.module(targets[0].Stage).MissingAssets(); note != "" {
				cmd.Println(note)
			}
			return p.Prove(cmd.Context(), targets)
		},
	}
	command.Flags().StringVar(&in, "in", "", "a clean clone to work in, which is left as it was (default: a new one, with what is not committed yet)")
	command.Flags().DurationVar(&timeout, "timeout", timeout, "how long one run of a stage's tests may take")
	return command
}

// assetsFor returns the folder of the API server: the clone's own lab, if it has one.
// Go's cache takes tests with another one for other tests.
func assetsFor(ctx context.Context, r, clone repository.Repository) (string, error) {
	if own := clone.Path("lab", "bin"); exists(own) {
		return own, nil
	}
	home, err := r.Home(ctx)
	return home.Path("lab", "bin"), err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// cloneOf returns the clone to work in, and what removes it if it was made.
func cloneOf(ctx context.Context, r repository.Repository, in string) (clone repository.Repository, remove func() error, err error) {
	if in == "" {
		dir, err := os.MkdirTemp("", "workshop-prove-")
		if err != nil {
			return clone, nil, fmt.Errorf("making a folder for the clone: %w", err)
		}
		clone, err = r.Copy(ctx, filepath.Join(dir, "clone"))
		remove := func() error { return os.RemoveAll(dir) }
		if err != nil {
			return clone, nil, errors.Join(err, remove())
		}
		return clone, remove, nil
	}
	if clone, err = repository.Find(ctx, in); err != nil {
		return clone, nil, fmt.Errorf("--in %s: %w", in, err)
	}
	changes, err := clone.Git(ctx, "status", "--porcelain")
	if err != nil {
		return clone, nil, err
	}
	if changes != "" {
		return clone, nil, fmt.Errorf("--in %s: it has changes that are not committed, which would be lost; name a clean clone:\n%s", in, changes)
	}
	return clone, func() error { return nil }, nil
}

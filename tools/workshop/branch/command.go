package branch

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// NewCommand returns the command `branches`.
func NewCommand(c Cutter) *cobra.Command {
	command := &cobra.Command{
		Use:   "branches",
		Short: "Cut the branches stage-1, stage-2 and so on, and go to one",
	}
	command.AddCommand(newCut(c), newSwitch(c), newProve(c))
	return command
}

func newCut(c Cutter) *cobra.Command {
	return &cobra.Command{
		Use:   "cut",
		Short: "Cut a branch for each stage from the present commit",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := repository.Find(cmd.Context(), ".")
			if err != nil {
				return err
			}
			branches, err := c.Cut(cmd.Context(), r)
			if err != nil {
				return err
			}
			for _, b := range branches {
				fmt.Fprintf(cmd.OutOrStdout(), "%s  %.12s  up to %s\n", b.Name, b.Commit, b.Stage.Folder)
			}
			return nil
		},
	}
}

func newSwitch(c Cutter) *cobra.Command {
	return &cobra.Command{
		Use:   "switch N",
		Short: "Go to the branch of stage N, unless there is uncommitted work",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := repository.Find(cmd.Context(), ".")
			if err != nil {
				return err
			}
			if err := c.Switch(cmd.Context(), r, args[0]); err != nil {
				return err
			}
			stage, err := r.Stage(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "You are on branch stage-%s. Read %s/README.md. The way back: git switch -\n", args[0], stage.Folder)
			return nil
		},
	}
}

func newProve(c Cutter) *cobra.Command {
	return &cobra.Command{
		Use:   "prove",
		Short: "Prove each branch in a clean clone: what differs from the present commit is tested",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "branches-")
			if err != nil {
				return fmt.Errorf("making a folder for a clone: %w", err)
			}
			defer os.RemoveAll(dir)
			clone, err := repository.CleanCopy(cmd.Context(), filepath.Join(dir, "clone"))
			if err != nil {
				return err
			}
			return Prover{Cutter: c, Out: cmd.OutOrStdout()}.Prove(cmd.Context(), clone)
		},
	}
}

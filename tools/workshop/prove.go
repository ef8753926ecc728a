package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// newProve returns the command that runs all proofs.
func newProve() *cobra.Command {
	return &cobra.Command{
		Use:   "prove",
		Short: "Walk all lessons, test all branches, break and mend all exercises",
		Long: `Walk all lessons, test all branches, break and mend all exercises: what CI runs to know
that nothing a learner is told has gone stale.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "prove-")
			if err != nil {
				return fmt.Errorf("making a folder for a clone: %w", err)
			}
			defer os.RemoveAll(dir)
			clone, err := repository.CleanCopy(cmd.Context(), filepath.Join(dir, "workshop"))
			if err != nil {
				return err
			}
			return proveAll(cmd.Context(), clone, cmd.OutOrStdout())
		},
	}
}

// proveAll runs the proofs. The lessons wait more than they work, so they are walked
// while the tests of branches and exercises run.
func proveAll(ctx context.Context, clone repository.Repository, out io.Writer) error {
	stages, err := clone.Stages()
	if err != nil {
		return err
	}
	out = &locked{out: out}
	lanes := [][][]string{
		{append([]string{"lesson", "check"}, lastFirst(stages)...)},
		// In this order: what was tested on the branches is in Go's cache, and is not
		// tested once more before the exercises break it.
		{{"branches", "prove", "--in", clone.Root}, {"exercise", "prove", "--in", clone.Root}},
	}
	failed := make([]error, len(lanes))
	var all sync.WaitGroup
	for i, lane := range lanes {
		all.Go(func() {
			for _, args := range lane {
				failed[i] = errors.Join(failed[i], proveOne(ctx, args, out))
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// lastFirst returns the numbers of the stages. What the last one ships listens at two
// ports of the machine, in its lesson as in its end-to-end test. The branches come to
// that test late, so the lesson is walked early.
func lastFirst(stages []repository.Stage) []string {
	var numbers []string
	for _, stage := range slices.Backward(stages) {
		numbers = append(numbers, strconv.Itoa(stage.Number))
	}
	return numbers
}

func proveOne(ctx context.Context, args []string, out io.Writer) error {
	name := args[0] + " " + args[1]
	start := time.Now()
	prefixed := &prefix{out: out, prefix: args[0] + "| "}
	defer prefixed.flush()
	fmt.Fprintf(prefixed, "workshop %s\n", name)
	if run(ctx, args, prefixed, prefixed) != 0 {
		return fmt.Errorf("workshop %s failed; what it said begins with %q", name, prefixed.prefix)
	}
	fmt.Fprintf(prefixed, "workshop %s passed in %s\n", name, time.Since(start).Round(time.Second))
	return nil
}

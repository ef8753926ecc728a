// Package scenario makes of the lessons the scenarios of a hosted workshop, in the format
// that Killercoda takes: katacoda/0N-name/ for each stage, and katacoda/structure.json.
//
// What it needs besides the lessons stands in katacoda/course.yaml and katacoda/templates/.
// katacoda/node/ holds what runs on a hosted node; the scenarios find it in the clone that
// they make.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/core"
	"example.com/hacking-a-controller/tools/workshop/curriculum"
	"example.com/hacking-a-controller/tools/workshop/glossary"
	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/pasted"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/targets"
)

// NewBuild returns the command workshop lesson build.
func NewBuild() *cobra.Command {
	var look, publish bool
	command := &cobra.Command{
		Use:   "build",
		Short: "Write what is made of the lessons and tracks: the scenarios in katacoda/, and the plans",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			r, err := repository.Find(command.Context(), ".")
			if err != nil {
				return err
			}
			if publish {
				return publishable(command.Context(), r, command.OutOrStdout())
			}
			if look {
				return errors.Join(links.Check(r), targets.Check(command.Context(), r), pasted.Check(r), glossary.Check(r), curriculum.Check(r), core.Check(r), check(command.Context(), r, command.OutOrStdout()))
			}
			return Build(command.Context(), r, command.OutOrStdout())
		},
	}
	command.Flags().BoolVar(&look, "check", false, "write nothing, and fail if something differs from what would be written, a link leads nowhere, make has no such target, zsh reads a block to paste otherwise, the glossary or a track is wrong, or a core lesson is over its limits")
	command.Flags().BoolVar(&publish, "publish", false, "write nothing, and fail unless the scenarios can be published as they are")
	return command
}

// Build writes the scenarios of the stages that r has, and says so. Before that, it writes what is
// made of the tracks, and the repository's address.
func Build(ctx context.Context, r repository.Repository, out io.Writer) error {
	if err := curriculum.Write(r); err != nil {
		return err
	}
	if err := writeAddresses(r); err != nil {
		return err
	}
	want, have, err := both(ctx, r)
	if err != nil {
		return err
	}
	changes := differences(have, want)
	if err := replace(r, have, want); err != nil {
		return err
	}
	fmt.Fprintf(out, "the scenarios in katacoda/ are current: %d files, of which %d have changed\n", len(want), len(changes))
	return nil
}

// check says in which files the scenarios are not what build would write.
func check(ctx context.Context, r repository.Repository, out io.Writer) error {
	if err := checkAddresses(r); err != nil {
		return err
	}
	want, have, err := both(ctx, r)
	if err != nil {
		return err
	}
	if wrong := differences(have, want); len(wrong) > 0 {
		return fmt.Errorf("the scenarios are not what the lessons make of them:\n  %s\nrun: make generate", strings.Join(wrong, "\n  "))
	}
	fmt.Fprintf(out, "the scenarios in katacoda/ are current: %d files\n", len(want))
	return nil
}

// publishable is check, and wants the scenarios to clone a repository that there is.
func publishable(ctx context.Context, r repository.Repository, out io.Writer) error {
	c, err := readCourse(r)
	if err != nil {
		return err
	}
	if err := c.publishable(); err != nil {
		return err
	}
	return check(ctx, r, out)
}

// both returns the files that there should be and those that there are.
func both(ctx context.Context, r repository.Repository) (want, have files, err error) {
	if want, err = generate(ctx, r); err != nil {
		return nil, nil, err
	}
	have, err = present(r)
	return want, have, err
}

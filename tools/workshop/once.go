package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/verdict"
)

// newOnce returns the command that gives any check a cache of its verdicts.
func newOnce() *cobra.Command {
	return &cobra.Command{
		Use:   "once PATH... -- COMMAND...",
		Short: "Run a check, unless it has passed before with the same files and the same lab",
		Long: `Run a check at the top of the repository, unless it has passed before: with the same files below
these paths, the same lab, Go and kernel. With FRESH=1, it is always run.`,
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths := cmd.ArgsLenAtDash()
			if paths < 1 || paths == len(args) {
				return errors.New("name the files that a check depends on, and the check: workshop once README.md -- grep -q workshop README.md")
			}
			check := args[paths:]
			r, err := repository.Find(cmd.Context(), ".")
			if err != nil {
				return err
			}
			before, err := onceVerdict(cmd, r, args, args[:paths])
			if err != nil {
				return err
			}
			if before.Known() && !verdict.Fresh() {
				cmd.Printf("%s: passed before, and nothing has changed since\n", strings.Join(check, " "))
				return nil
			}
			command := exec.CommandContext(cmd.Context(), check[0], check[1:]...)
			command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) } // it may have a lab to end
			command.Dir, command.Stdout, command.Stderr = r.Root, cmd.OutOrStdout(), cmd.ErrOrStderr()
			if err := command.Run(); err != nil {
				return fmt.Errorf("%s: %w", strings.Join(check, " "), err)
			}
			after, err := onceVerdict(cmd, r, args, args[:paths])
			if err != nil || after != before { // edited meanwhile
				return err
			}
			return after.Save()
		},
	}
}

// onceVerdict returns the verdict of a check that depends on files below these paths.
func onceVerdict(cmd *cobra.Command, r repository.Repository, args, below []string) (verdict.Verdict, error) {
	program, err := os.Executable()
	if err != nil {
		return verdict.Verdict{}, err
	}
	machine, err := verdict.Machine(cmd.Context(), r, program)
	if err != nil {
		return verdict.Verdict{}, err
	}
	for _, path := range below {
		if _, err := os.Stat(r.Path(path)); err != nil {
			return verdict.Verdict{}, fmt.Errorf("a check cannot depend on %s: %w", path, err)
		}
	}
	listed, err := verdict.Files(cmd.Context(), r, below...)
	if err != nil {
		return verdict.Verdict{}, err
	}
	files, err := verdict.HashFiles(r, listed)
	if err != nil {
		return verdict.Verdict{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return verdict.Verdict{}, fmt.Errorf("looking for a folder to keep a verdict in: %w", err)
	}
	return verdict.New(filepath.Join(cache, "hacking-a-controller", "verdicts"), fmt.Sprintf("%q\n%sfiles %s\n", args, machine, files)), nil
}

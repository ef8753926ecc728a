package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// followInterval is how often a log is looked at for new lines.
const followInterval = 100 * time.Millisecond

func newLogs(a *app) *cobra.Command {
	var follow bool
	command := &cobra.Command{
		Use:       "logs COMPONENT",
		Short:     "Print the log of a component (for pods: lab kubectl logs)",
		ValidArgs: logNames(),
		Args:      oneArgument("the component: one of " + strings.Join(logNames(), ", ")),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(logNames(), args[0]) {
				return fmt.Errorf("there is no component %q: choose one of %s", args[0], strings.Join(logNames(), ", "))
			}
			l, err := a.existing()
			if err != nil {
				return err
			}
			return printLog(cmd.Context(), a.out, l.Log(args[0]), follow)
		},
	}
	command.Flags().BoolVarP(&follow, "follow", "f", false, "go on printing new lines until Ctrl-C")
	return command
}

func logNames() []string {
	names := []string{"supervisor"}
	for _, c := range component.All(layout.Layout{}, settings.Settings{}) {
		names = append(names, c.Name)
	}
	return names
}

// printLog copies the file and, if asked to follow, what is appended to it.
func printLog(ctx context.Context, out io.Writer, path string, follow bool) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it has written no log yet (to start it: lab up)")
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		if _, err := io.Copy(out, f); err != nil {
			return err
		}
		if !follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followInterval):
		}
	}
}

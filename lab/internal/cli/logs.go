package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/logfile"
	"example.com/hacking-a-controller/lab/internal/settings"
)

func newLogs(a *app) *cobra.Command {
	var follow bool
	command := &cobra.Command{
		Use:       "logs COMPONENT",
		Short:     "Print the log of a component, or what service accounts asked for (for pods: lab kubectl logs)",
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
			return logfile.Print(cmd.Context(), a.out, l.Log(args[0]), follow)
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
	return append(names, component.Audit)
}

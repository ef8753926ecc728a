package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/logfile"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

func newLogs(a *app) *cobra.Command {
	var follow bool
	command := &cobra.Command{
		Use:       "logs COMPONENT",
		Short:     "Print the log of a component, or what service accounts or programs of lab run asked for (for pods: lab kubectl logs)",
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
			state, err := supervisor.ReadState(l)
			if err == nil && state.Components[args[0]].Static {
				return a.printStaticPodLog(cmd.Context(), l, args[0], follow)
			}
			return logfile.Print(cmd.Context(), a.out, l.Log(args[0]), follow)
		},
	}
	command.Flags().BoolVarP(&follow, "follow", "f", false, "go on printing new lines until Ctrl-C")
	return command
}

// printStaticPodLog prints the log of the newest container, which may have ended.
func (a *app) printStaticPodLog(ctx context.Context, l layout.Layout, name string, follow bool) error {
	c, err := newestContainer(l, name)
	if err != nil {
		return err
	}
	if c.ID == "" {
		return fmt.Errorf("the static pod %s has no container (why: lab logs kubelet)", name)
	}
	return c.PrintLog(ctx, a.out, follow)
}

func logNames() []string {
	names := []string{"supervisor"}
	for _, c := range component.All(layout.Layout{}, settings.Settings{}) {
		names = append(names, c.Name)
	}
	return append(names, component.Audit, requestsLog)
}

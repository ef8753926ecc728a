package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/runtime"
)

// newCrictl makes the command for what people do with crictl on a node: its names are the same.
func newCrictl(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "crictl",
		Short: "Look at the containers of the node, and stop one, as crictl does on other nodes",
		Args:  cobra.NoArgs,
	}
	command.AddCommand(newCrictlPs(a), newCrictlStop(a))
	return command
}

func newCrictlPs(a *app) *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "ps",
		Short: "List the containers that run, the newest first",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.existing()
			if err != nil {
				return err
			}
			containers, err := runtime.Containers(l.Runtime())
			if err != nil {
				return err
			}
			a.printContainers(containers, all)
			return nil
		},
	}
	command.Flags().BoolVarP(&all, "all", "a", false, "those that have ended, too")
	return command
}

func (a *app) printContainers(containers []runtime.Container, all bool) {
	w := tabwriter.NewWriter(a.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "CONTAINER\tIMAGE\tCREATED\tSTATE\tNAME\tATTEMPT\tPOD\tNAMESPACE")
	for _, c := range containers {
		if c.Running() || all {
			fmt.Fprintf(w, "%.13s\t%s\t%s ago\t%s\t%s\t%d\t%s\t%s\n", c.ID, c.Image, duration.HumanDuration(time.Since(c.Created)), containerState(c), c.Name, c.Attempt, c.Pod, c.Namespace)
		}
	}
	_ = w.Flush()
}

func containerState(c runtime.Container) string {
	switch {
	case c.Exit != nil:
		return fmt.Sprintf("Exited (%d)", c.Exit.Code)
	case c.Running():
		return "Running"
	default:
		return "Created"
	}
}

func newCrictlStop(a *app) *cobra.Command {
	var grace time.Duration
	command := &cobra.Command{
		Use:   "stop CONTAINER",
		Short: "End a container, named or by the begin of its ID; the kubelet may start it again",
		Args:  oneArgument("the container: lab crictl ps lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.running()
			if err != nil {
				return err
			}
			return a.stopContainer(cmd.Context(), l, args[0], grace)
		},
	}
	command.Flags().DurationVar(&grace, "timeout", 10*time.Second, "how long it has before it is killed")
	return command
}

func (a *app) stopContainer(ctx context.Context, l layout.Layout, which string, grace time.Duration) error {
	containers, err := runtime.Containers(l.Runtime())
	if err != nil {
		return err
	}
	var found []runtime.Container
	for _, c := range containers {
		if c.Running() && (c.Name == which || strings.HasPrefix(c.ID, which)) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("%d containers that run are called %q or have an ID that begins so (to list them: lab crictl ps)", len(found), which)
	}
	if err := found[0].Stop(ctx, grace); err != nil {
		return err
	}
	fmt.Fprintln(a.out, found[0].ID)
	return nil
}

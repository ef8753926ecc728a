package cli

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/cluster"
	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

// newSupervise makes the command that `lab up` runs in the background.
func newSupervise(a *app) *cobra.Command {
	var controlPlaneOnly bool
	command := &cobra.Command{
		Use:    "supervise",
		Short:  "Run the components in the foreground (lab up calls this)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.existing()
			if err != nil {
				return err
			}
			return supervise(cmd.Context(), l, controlPlaneOnly)
		},
	}
	command.Flags().BoolVar(&controlPlaneOnly, "control-plane-only", false, "run only etcd and kube-apiserver")
	return command
}

func supervise(ctx context.Context, l layout.Layout, controlPlaneOnly bool) error {
	s, err := settings.Load(l.Settings())
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	components := component.All(l, s)
	if controlPlaneOnly {
		components = component.ControlPlane(l, s)
	}
	client, err := cluster.NewClient(l.AdminKubeconfig())
	if err != nil {
		return err
	}
	var cloud sync.WaitGroup
	defer cloud.Wait()
	if slices.ContainsFunc(components, func(c component.Component) bool { return c.Name == settings.Kubelet }) {
		cloud.Go(func() { cluster.RunCloud(ctx, client, component.NodeName, log) })
	}
	return supervisor.Run(ctx, l, log, components)
}

package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
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
	return &cobra.Command{
		Use:    "supervise",
		Short:  "Run the components in the foreground (lab up calls this)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.existing()
			if err != nil {
				return err
			}
			return supervise(cmd.Context(), l)
		},
	}
}

func supervise(ctx context.Context, l layout.Layout) error {
	s, err := settings.Load(l.Settings())
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	client, err := cluster.NewClient(l.AdminKubeconfig())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var cloud sync.WaitGroup
	defer cloud.Wait()
	defer cancel() // first: a supervisor that is refused its lock ends with ctx alive
	cloud.Go(func() { cluster.RunCloud(ctx, client, component.NodeName, log) })
	// Both signals end it. SIGTERM leaves the pods their time, SIGINT does not.
	grace, stop := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt)
	defer stop()
	return supervisor.Run(ctx, grace, l, log, component.All(l, s))
}

package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"example.com/hacking-a-controller/lab/internal/claim"
	"example.com/hacking-a-controller/lab/internal/cluster"
	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/provisioner"
	"example.com/hacking-a-controller/lab/internal/proxy"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

// newSupervise makes the command that `lab up` runs in the background.
func newSupervise(a *app) *cobra.Command {
	var claims int
	command := &cobra.Command{
		Use:    "supervise",
		Short:  "Run the components in the foreground (lab up calls this)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			claim.Inherit(claims)
			l, err := a.existing()
			if err != nil {
				return err
			}
			return supervise(cmd.Context(), l)
		},
	}
	command.Flags().IntVar(&claims, "claims", 0, "how many of the inherited files are claims of lab up")
	return command
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
	// Both signals end it. SIGTERM leaves the pods their time, SIGINT does not.
	grace, stop := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt)
	defer stop()
	return supervisor.Run(ctx, grace, l, log, component.All(l, s), func(ctx context.Context) {
		var all sync.WaitGroup
		all.Go(func() { cluster.RunCloud(ctx, client, component.NodeName, log) })
		all.Go(func() { runAddons(ctx, client, l, log) })
		all.Go(func() { runFaultProxy(ctx, l, s, log) })
		all.Wait()
	})
}

// runAddons runs what other clusters have in pods, on the node or anywhere: a provisioner
// of volumes and a proxy.
func runAddons(ctx context.Context, client kubernetes.Interface, l layout.Layout, log *slog.Logger) {
	// Informers that begin while no server listens back off for seconds.
	if err := cluster.Wait(ctx, cluster.Usable(client, component.NodeName)[0]); err != nil {
		return // ctx has ended
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: client.CoreV1().Events(metav1.NamespaceAll)})
	recorder := func(name string) record.EventRecorder {
		return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: name, Host: component.NodeName})
	}
	var all sync.WaitGroup
	all.Go(func() {
		keepRunning(ctx, log, "provisioner", func(ctx context.Context) error {
			return provisioner.Run(ctx, client, l.Volumes(), component.NodeName, recorder("provisioner"), log)
		})
	})
	all.Go(func() {
		keepRunning(ctx, log, "proxy", func(ctx context.Context) error {
			return proxy.Run(ctx, client, component.NodeName, recorder("proxy"), log)
		})
	})
	all.Wait()
}

// keepRunning runs it again a second after it has ended, until ctx ends.
func keepRunning(ctx context.Context, log *slog.Logger, what string, run func(ctx context.Context) error) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			log.Warn(what+" ended", "err", err)
		}
	}, time.Second)
}

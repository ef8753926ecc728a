// Package podlog logs what an informer reports about pods. It is the smallest
// program with an informer: one cache, one set of handlers, and no work.
package podlog

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/podclient"
)

// options are the flags.
type options struct {
	pods   podclient.Flags
	resync time.Duration
}

// Command returns the program.
func Command() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "podlog",
		Short: "Log what an informer reports about pods",
		Args:  cli.NoArgs,
		RunE:  o.run,
	}
	o.pods.AddFlags(command.Flags())
	command.Flags().DurationVar(&o.resync, "resync", 0, "how `often` to call the update handler for every pod, though nothing has changed; 0 is never")
	return command
}

// run logs until the context ends.
func (o *options) run(command *cobra.Command, _ []string) error {
	if o.resync != 0 && o.resync < time.Second {
		return cli.UsageError(command, fmt.Errorf("--resync is %s, it must be 0 or at least 1s", o.resync))
	}
	ctx, out := command.Context(), command.OutOrStdout()
	client, namespace, err := o.pods.Connect(ctx)
	switch {
	case ctx.Err() != nil:
		return nil // interrupted
	case err != nil:
		return err
	}

	// The factory makes one informer for each type, however many handlers are
	// added to it: the cache and the watch are shared.
	factory := informers.NewSharedInformerFactoryWithOptions(client, o.resync, informers.WithNamespace(namespace))
	pods := factory.Core().V1().Pods().Informer()
	handled, err := pods.AddEventHandler(handlers(out))
	if err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown() // waits until the informer has ended

	// Before this, the cache is half full, and looks as if the other half had been
	// deleted. Everything that reads the cache has to wait.
	if cache.WaitFor(ctx, "", handled.HasSyncedChecker()) {
		fmt.Fprintf(out, "# the cache has synced; pods in it: %d\n", len(pods.GetStore().ListKeys()))
		<-ctx.Done()
	}
	return nil
}

// Package observe makes a controller out of a script: it runs a command once for
// every object of a type, and again whenever one of them changes.
//
//	observe.go   the command, and what it starts
//	flags.go     the command line, checked before anything runs
//	resource.go  RESOURCE, found among the types of the server
//	source.go    list and watch it
//	handlers.go  what the informer reports
//	events.go    which events of an object are pending
//	observer.go  reconcile: hand the pending events of an object to a command
//	fullsync.go  when every object has been reconciled once
//	names.go     objects that were deleted while observe was down
//	scope.go     which names are selected
//	argument.go  templates that become arguments, in two languages: jsonpath.go, gotemplate.go
//	command.go   the line that is run, and the header that shows it
//	execute.go   run it for an event
//	child.go     a process that can be waited for, and killed
//	metrics.go   what is counted
//	signals.go   Ctrl-C: let the child end, then kill it
//	reap.go      what a process with the number 1 owes to orphans
//
// One worker takes the keys from the queue of package controller, so one child
// runs at a time.
package observe

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/monitor"
)

// Command returns the program. When the context of the command ends, the child that
// is running may finish; when kill ends, it is killed.
func Command(kill context.Context) *cobra.Command { return (&options{}).command(kill) }

func (o *options) command(kill context.Context) *cobra.Command {
	command := &cobra.Command{
		Use:   "observe RESOURCE [flags] [-- COMMAND ARGS...]",
		Short: "Run a command for every object of a type, and again whenever one changes",
		Long: `Run a command for every object of a type, and again whenever one changes.

The command gets its own ARGS, the namespace (if the type has namespaces), the
name, and what the templates rendered. Without a command, these are printed.`,
		Args: o.parse,
		RunE: func(command *cobra.Command, _ []string) error { return o.run(command, kill) },
	}
	o.addFlags(command.Flags())
	return command
}

// errDone is the good end of a program that ends by itself.
var errDone = errors.New("done")

// run works until the context ends, for any cause.
func (o *options) run(command *cobra.Command, kill context.Context) error {
	ctx, end := context.WithCancelCause(command.Context())
	defer end(nil)
	if o.exitAfter > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.exitAfter, errDone)
		defer cancel()
	}
	stdout := command.OutOrStdout()
	children := &children{
		kill: kill, stdout: stdout, stderr: command.ErrOrStderr(),
		quiet: o.quiet, retryExitCode: o.retryExitCode, retryCount: o.retryCount,
	}
	target, err := o.connect(ctx)
	switch {
	case ctx.Err() != nil:
		return nil // Ctrl-C: any error here is a result of that
	case err != nil:
		return err
	}
	observer, err := newObserver(o, target, children, end)
	if err != nil {
		return err
	}
	err = observer.run(ctx)
	if o.printMetrics {
		err = errors.Join(err, observer.metrics.print(stdout))
	}
	return err
}

// connect finds the cluster and the type.
func (o *options) connect(ctx context.Context) (found target, err error) {
	config, namespace, err := o.cluster.Load()
	if err != nil {
		return found, err
	}
	if o.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	mapping, err := findResource(ctx, config, o.resource)
	if err != nil {
		return found, cli.Explain(err, config.Host)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return found, fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	return target{client, mapping, scopeOf(mapping, namespace), config.Host}, nil
}

// run is the informer, the queue and the monitor. It returns when all of them
// have ended.
func (o *observer) run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	if o.options.listenAddr != "" {
		listener, err := monitor.Listen(o.options.listenAddr)
		if err != nil {
			return fmt.Errorf("--listen-addr: %w, or turn it off with --listen-addr=''", err)
		}
		// The monitor answers until the last child has ended.
		monitored, endMonitor := context.WithCancel(context.WithoutCancel(ctx))
		defer endMonitor()
		running.Go(func() {
			if err := monitor.Serve(monitored, listener, o.metrics.registry, o.ready); err != nil {
				o.end(err)
			}
		})
	}
	o.fullSync.add(listedKey)
	if o.options.resyncPeriod > 0 && !o.options.once {
		o.queue.EnqueueAfter(resyncKey, o.options.resyncPeriod)
	}

	running.Go(func() { o.informer.RunWithContext(ctx) })
	// The queue would wait for this, too, but it polls, every 100 ms.
	if cache.WaitFor(ctx, "", o.informer.HasSyncedChecker(), o.handled.HasSyncedChecker()) {
		o.syncStarted()
	}
	o.queue.Run(ctx, 1, o.reconcile)

	cause := context.Cause(ctx)
	switch {
	case o.killed != nil:
		return o.killed
	case errors.Is(cause, context.Canceled), errors.Is(cause, errDone):
		return nil
	default:
		return cause
	}
}

// ready returns why not every object is known yet.
func (o *observer) ready() error {
	if !o.handled.HasSynced() {
		return errors.New("the cache has not synced yet")
	}
	return nil
}

// Package observe makes a controller out of a script: it runs a command once for
// every object of a type, and again whenever one of them changes.
//
//	observe.go   the command
//	flags.go     the command line, checked before anything runs
//	resource.go  RESOURCE, found among the types of the server
//	source.go    list and watch it
//	observer.go  the informer, its handlers and the queue
//	events.go    which events of an object are pending
//	reconcile.go run a command for the pending event of an object
//	fullsync.go  when every object has been reconciled once
//	names.go     objects that were deleted while observe was down
//	scope.go     which names are selected
//	argument.go  templates that become arguments, in two languages: jsonpath.go (of parts, each a
//	             path.go) and gotemplate.go (with functions.go)
//	command.go   the line that is run, and the header that shows it
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
	"net"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

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
	var listener net.Listener
	if o.listenAddr != "" {
		if listener, err = monitor.Listen(o.listenAddr); err != nil {
			return fmt.Errorf("--listen-addr: %w, or turn it off with --listen-addr=''", err)
		}
	}
	observer, err := newObserver(o, target, children, end)
	if err != nil {
		return err
	}
	err = observer.run(ctx, listener)
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

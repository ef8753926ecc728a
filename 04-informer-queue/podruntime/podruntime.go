// Package podruntime prints for how long the pods of each namespace have been
// running, all together. Its reconcile is that of first/, made fast: see totals.go
// for the sum and pod.go for the cache. Both are there for speed alone, and
// `make bench-4` measures both.
//
// It prints a line when a pod came, began to run, ended or went. All else that
// happens to a pod, such as a label or a condition, does not change the course of the
// total.
package podruntime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/controller"
	"example.com/hacking-a-controller/04-informer-queue/monitor"
	"example.com/hacking-a-controller/04-informer-queue/podclient"
)

// options are the flags.
type options struct {
	pods       podclient.Flags
	since      string
	listenAddr string
}

// Command returns the program.
func Command() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "podruntime",
		Short: "Print for how long the pods of each namespace have been running",
		Args:  cli.NoArgs,
		RunE:  o.run,
	}
	flags := command.Flags()
	o.pods.AddFlags(flags)
	flags.StringVar(&o.since, "since", "start", "from when a pod counts: from its `start` until its last container has finished, or from its creation until it is deleted")
	flags.StringVar(&o.listenAddr, "listen-addr", ":11252", "the `address` of /metrics and /healthz; without a host it is on loopback; empty turns them off")
	return command
}

// run works until the context ends, and waits for all that it started. If the
// monitor fails, all ends.
func (o *options) run(command *cobra.Command, _ []string) error {
	since, known := map[string]since{"start": sinceStart, "creation": sinceCreation}[o.since]
	if !known {
		return cli.UsageError(command, fmt.Errorf("--since is %q, it can be start or creation", o.since))
	}
	client, namespace, err := o.pods.Connect(command.Context())
	switch {
	case command.Context().Err() != nil:
		return nil // interrupted
	case err != nil:
		return err
	}
	var listener net.Listener
	if o.listenAddr != "" {
		if listener, err = monitor.Listen(o.listenAddr); err != nil {
			return fmt.Errorf("--listen-addr: %w", err)
		}
		fmt.Fprintf(command.ErrOrStderr(), "# metrics: http://%s/metrics\n", listener.Addr())
	}
	r, err := newRuntimes(client, namespace, since, command.OutOrStdout())
	if err != nil {
		return err
	}

	running, ctx := errgroup.WithContext(command.Context())
	if listener != nil {
		registry := prometheus.NewRegistry()
		registry.MustRegister(&collector{r.totals, r.ready})
		running.Go(func() error { return monitor.Serve(ctx, listener, registry, r.ready) })
	}
	running.Go(func() error { r.informer.RunWithContext(ctx); return nil })
	r.queue.Run(ctx, 1, r.reconcile, r.handled.HasSyncedChecker())
	return running.Wait()
}

// runtimes keeps the totals up to date, and prints one when it has changed course.
type runtimes struct {
	queue    *controller.Controller[string] // of namespaces
	totals   *totals
	informer cache.SharedIndexInformer
	handled  cache.ResourceEventHandlerRegistration
	out      io.Writer
}

// newRuntimes prepares an informer for the pods of the namespace, or of all.
//
// It is not the informer of a factory: what it caches is no corev1.Pod, and a lister of
// the factory would panic.
func newRuntimes(client kubernetes.Interface, namespace string, since since, out io.Writer) (*runtimes, error) {
	r := &runtimes{
		queue:    controller.New[string]("podruntime"),
		totals:   newTotals(),
		informer: coreinformers.NewPodInformer(client, namespace, 0, cache.Indexers{}),
		out:      out,
	}
	err := r.informer.SetTransform(trim(since))
	if err == nil {
		r.handled, err = r.informer.AddEventHandler(r.handlers())
	}
	return r, err // both fail only when the informer is running
}

func (r *runtimes) handlers() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(is any) { r.enqueue(nil, is.(*pod)) },
		UpdateFunc: func(was, is any) { r.enqueue(was.(*pod), is.(*pod)) },
		DeleteFunc: func(was any) {
			if deleted, ok := was.(cache.DeletedFinalStateUnknown); ok {
				was = deleted.Obj
			}
			r.enqueue(was.(*pod), nil)
		},
	}
}

// enqueue adds the namespace of a pod if its total has changed course. The informer
// calls it once for each change, one after the other, and what the pod was is what it
// is in the call before. So the totals lose nothing and count nothing twice. For a deletion
// that is not the informer's doing: it passes on the object of the event, which is the last
// state because etcd gives that to the API server.
func (r *runtimes) enqueue(was, is *pod) {
	if r.totals.replace(was, is) {
		r.queue.Enqueue(cmp.Or(is, was).namespace)
	}
}

// reconcile prints for how long the pods of the namespace have been running. A
// thousand pods that came while its key was waiting are one line.
func (r *runtimes) reconcile(_ context.Context, namespace string) error {
	seconds := r.totals.seconds(namespace, time.Now())
	_, err := fmt.Fprintf(r.out, "Pods in namespace %s have been running for %.2f minutes.\n", namespace, seconds/60)
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// ready returns why the totals are not to be trusted yet.
func (r *runtimes) ready() error {
	if !r.handled.HasSynced() {
		return errors.New("the cache has not synced yet")
	}
	return nil
}

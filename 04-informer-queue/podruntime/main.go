// Podruntime prints for how long the pods of each namespace have been running, all together,
// whenever that changes its course. It is first/ with what it needs to run for months:
//
//	main.go        flags, the informer and its handler
//	controller.go  the queue and its workers
//	reconcile.go   from the pods of a namespace to a line
//	metrics.go     /metrics and /healthz
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// options are the flags.
type options struct {
	namespace string
	workers   int
	listen    string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.namespace, "namespace", "", "the `namespace` to watch (default: all)")
	flag.IntVar(&o.workers, "workers", 2, "how many namespaces to reconcile at the same time")
	flag.StringVar(&o.listen, "listen", "127.0.0.1:11252", "the `address` of /metrics and /healthz; empty turns them off")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "error: %q isn't a flag, and all flags after it would be ignored\n", flag.Arg(0))
		os.Exit(2)
	}
	// Which cluster, and as whom: the kubeconfig says it.
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err == nil {
		err = run(ctx, config, os.Stdout, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, config *rest.Config, out io.Writer, o options) error {
	client, err := kubernetes.NewForConfig(config) // makes no request yet
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(o.namespace), informers.WithTransform(trim))
	pods := factory.Core().V1().Pods()
	c := newController(pods.Lister(), out)
	defer c.queue.ShutDown() // it has goroutines since it was made

	// A handler does no work. It adds the key of what is to be reconciled.
	handled, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, pod any) { c.enqueue(pod) },
		DeleteFunc: c.enqueue,
	})
	if err != nil {
		return err
	}
	if o.listen != "" {
		listener, err := net.Listen("tcp", o.listen)
		if err != nil {
			return fmt.Errorf("-listen: %w", err)
		}
		defer c.serve(listener, handled.HasSynced)()
	}
	ctx, cancel := context.WithCancel(ctx)
	factory.StartWithContext(ctx)
	defer factory.Shutdown() // waits until the informer has ended
	defer cancel()           // ends it, after a panic, too: otherwise Shutdown would wait forever

	c.run(ctx, o.workers, c.reconcile, handled.HasSyncedChecker())
	return nil
}

package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/controller"
	"example.com/hacking-a-controller/04-informer-queue/monitor"
)

// Run is the program without its process. It returns the exit code. When stop
// ends, it finishes what it has in hand; when kill ends, it kills that.
func Run(stop, kill context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	if errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	if err == nil {
		err = observe(stop, kill, o, stdout, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}

// errDone is the good end of a program that ends by itself.
var errDone = errors.New("done")

// observe works until the context ends, for whatever cause.
func observe(stop, kill context.Context, o *options, stdout, stderr io.Writer) error {
	ctx, end := context.WithCancelCause(stop)
	defer end(nil)
	if o.exitAfter > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.exitAfter, errDone)
		defer cancel()
	}

	observer, source, err := connect(ctx, o)
	switch {
	case ctx.Err() != nil:
		return nil // Ctrl-C: whatever failed, it failed because of that
	case err != nil:
		return err
	}
	observer.stdout = stdout
	observer.children = &children{kill: kill, stdout: stdout, stderr: stderr, retryExitCode: o.retryExitCode, retryCount: o.retryCount, header: observer.header}
	observer.stop = func(err error) {
		if err == nil {
			err = errDone
		}
		end(err)
	}
	source.failed = func(err error) { end(cli.Explain(err, observer.server)) }

	err = observer.run(ctx, source)
	if o.printMetrics {
		err = errors.Join(err, observer.metrics.print(stdout))
	}
	return err
}

// connect finds the cluster and the type.
func connect(ctx context.Context, o *options) (*observer, *source, error) {
	config, namespace, err := o.cluster.Load()
	if err != nil {
		return nil, nil, err
	}
	if o.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	mapping, err := findResource(ctx, config, o.resource)
	if err != nil {
		return nil, nil, cli.Explain(err, config.Host)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	observer := &observer{
		options: o, mapping: mapping, scope: scopeOf(mapping, namespace),
		client: client, server: config.Host, metrics: newMetrics(),
		pending: pending{events: map[key]event{}},
		pass:    pass{left: map[key]bool{}},
		tries:   map[key]int{}, givenUp: map[key]bool{},
	}
	return observer, newSource(client, mapping, namespace, o.selector), nil
}

// run is the informer, the queue and the monitor. It returns when all of them
// have ended.
func (o *observer) run(ctx context.Context, source *source) error {
	informer, err := source.informer()
	if err != nil {
		return err
	}
	o.cache = informer.GetStore()
	handlers, err := informer.AddEventHandler(o)
	if err != nil {
		return err
	}

	var running sync.WaitGroup
	defer running.Wait()
	// The monitor answers until the last child has ended.
	monitored, endMonitor := context.WithCancel(context.WithoutCancel(ctx))
	defer endMonitor()
	if err := o.serve(monitored, &running, handlers.HasSynced); err != nil {
		return err
	}
	o.queue = controller.New[key]("observe")
	o.queue.Timeout = 0 // only the author of a command knows how long it may take
	source.listed = func() { o.queue.Enqueue(listedKey) }
	o.pass.add(listedKey)
	if o.options.resyncPeriod > 0 && !o.options.once {
		o.queue.EnqueueAfter(resyncKey, o.options.resyncPeriod)
	}

	running.Go(func() { informer.RunWithContext(ctx) })
	// The queue would wait for this, too, but it asks only every 100 ms.
	cache.WaitFor(ctx, "", informer.HasSyncedChecker(), handlers.HasSyncedChecker())
	o.queue.Run(ctx, 1, o.reconcile, informer.HasSynced, handlers.HasSynced)

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

// serve starts the monitor, unless it is turned off.
func (o *observer) serve(ctx context.Context, running *sync.WaitGroup, synced cache.InformerSynced) error {
	if o.options.listenAddr == "" {
		return nil
	}
	listener, err := monitor.Listen(o.options.listenAddr)
	if err != nil {
		return fmt.Errorf("--listen-addr: %w, or turn it off with --listen-addr=''", err)
	}
	running.Go(func() {
		if err := monitor.Serve(ctx, listener, o.metrics.registry, healthy(synced)); err != nil {
			o.stop(err)
		}
	})
	return nil
}

func healthy(synced cache.InformerSynced) func() error {
	return func() error {
		if !synced() {
			return errors.New("not everything is known yet")
		}
		return nil
	}
}

package podruntime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/04-informer-queue/controller"
)

// runtimes keeps the totals up to date and tells of a namespace when its total
// has changed course.
type runtimes struct {
	totals *totals
	queue  *controller.Controller[string] // of namespaces
	out    io.Writer

	factory informers.SharedInformerFactory
	handled cache.ResourceEventHandlerRegistration
}

// newRuntimes prepares an informer for the pods of the namespace, or of all.
func newRuntimes(client kubernetes.Interface, namespace string, since since, out io.Writer) (*runtimes, error) {
	r := &runtimes{totals: newTotals(), out: out}
	r.factory = informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithNamespace(namespace), informers.WithTransform(trim(since)))

	var err error
	r.handled, err = r.factory.Core().V1().Pods().Informer().AddEventHandler(r.handlers())
	if err != nil {
		return nil, fmt.Errorf("adding the handlers: %w", err)
	}
	return r, nil
}

func (r *runtimes) handlers() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(is any) { r.changed(nil, is.(*pod)) },
		UpdateFunc: func(was, is any) { r.changed(was.(*pod), is.(*pod)) },
		DeleteFunc: func(was any) {
			if tombstone, ok := was.(cache.DeletedFinalStateUnknown); ok {
				was = tombstone.Obj
			}
			r.changed(was.(*pod), nil)
		},
	}
}

// changed is told of each change, one after the other. What the pod was is what
// it is in the call before. So the totals lose nothing and count nothing twice.
func (r *runtimes) changed(was, is *pod) {
	if !r.totals.replace(was, is) {
		return
	}
	if is != nil {
		r.queue.Enqueue(is.namespace)
	} else {
		r.queue.Enqueue(was.namespace)
	}
}

// reconcile tells of one namespace. A thousand pods that came while its key was
// waiting are one line.
func (r *runtimes) reconcile(_ context.Context, namespace string) error {
	seconds := r.totals.seconds(namespace, time.Now())
	_, err := fmt.Fprintf(r.out, "Pods in namespace %s have been running for %.2f minutes.\n", namespace, seconds/60)
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// run works until the context ends, and waits for all that it started.
func (r *runtimes) run(ctx context.Context) {
	r.queue = controller.New("podruntime", r.reconcile)
	r.factory.StartWithContext(ctx)
	defer r.factory.Shutdown()
	r.queue.Run(ctx, 1, r.handled.HasSynced)
}

// ready says why the totals cannot be trusted yet.
func (r *runtimes) ready() error {
	if !r.handled.HasSynced() {
		return errors.New("the cache has not synced yet")
	}
	return nil
}

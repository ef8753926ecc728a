// First is a controller on one page. It watches the pods of a cluster, and prints
// for how long those of a namespace have been running whenever one of them changes.
//
//	API server ──watch──▶ informer ──handler──▶ queue ──key──▶ worker ──▶ reconcile
//	                          └── cache ◀── lister ────────────────────────────┘
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// Which cluster, and as whom: the kubeconfig says it.
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err == nil {
		err = run(ctx, config, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, config *rest.Config, out io.Writer) error {
	client, err := kubernetes.NewForConfig(config) // makes no request yet
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	c := &controller{
		pods:  pods.Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		out:   out,
	}
	// Shutdown lets the worker finish what is in the queue; then Get says so.
	context.AfterFunc(ctx, c.queue.ShutDown)

	// A handler does no work. It adds the key of what is to be reconciled.
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, pod any) { c.enqueue(pod) },
		DeleteFunc: c.enqueue,
	}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	factory.StartWithContext(ctx)
	defer factory.Shutdown() // waits until the informer has ended
	defer cancel()           // ends it, after a panic, too: otherwise Shutdown would wait forever

	// Until the cache is full, it looks as if the rest had been deleted.
	if !cache.WaitForCacheSync(ctx.Done(), pods.Informer().HasSynced) {
		return nil // interrupted
	}
	for c.processNextItem(ctx) {
	}
	return nil
}

type controller struct {
	pods  corelisters.PodLister // reads from the cache, never from the server
	queue workqueue.TypedRateLimitingInterface[string]
	out   io.Writer
}

// enqueue adds the namespace of a pod. A key that is waiting is not added twice.
func (c *controller) enqueue(obj any) {
	if deleted, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = deleted.Obj // the watch missed the deletion; this is the last state known
	}
	c.queue.Add(obj.(*corev1.Pod).Namespace)
}

// processNextItem takes one key from the queue. It returns false after shutdown.
func (c *controller) processNextItem(ctx context.Context) bool {
	namespace, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(namespace) // until then, no other worker gets this key

	if err := c.reconcile(ctx, namespace); err != nil {
		fmt.Fprintln(os.Stderr, "trying again later:", err)
		c.queue.AddRateLimited(namespace)
		return true
	}
	c.queue.Forget(namespace) // its failures, so that the next one is retried soon
	return true
}

// reconcile prints for how long the pods of the namespace have been running.
func (c *controller) reconcile(_ context.Context, namespace string) error {
	pods, err := c.pods.Pods(namespace).List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing the pods: %w", err)
	}
	var total time.Duration
	for _, pod := range pods {
		total += max(0, time.Since(pod.CreationTimestamp.Time))
	}
	_, err = fmt.Fprintf(c.out, "Pods in namespace %s have been running for %.2f minutes.\n", namespace, total.Minutes())
	return err
}

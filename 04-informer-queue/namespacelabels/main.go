// Namespacelabels makes the labels of a namespace available to its pods, in a ConfigMap in each
// namespace that asks for it. It is first/ with a second cache, and it writes.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const (
	name       = "namespace-labels" // of the ConfigMap, and of this program
	annotation = "example.com/namespace-labels"
	managedBy  = "app.kubernetes.io/managed-by"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	// No limit here: the server limits its clients.
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config) // makes no request yet
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	namespaces := factory.Core().V1().Namespaces()
	// The server sends only the ConfigMaps of that name.
	named := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(
		func(options *metav1.ListOptions) { options.FieldSelector = "metadata.name=" + name }))
	configMaps := named.Core().V1().ConfigMaps()
	c := &controller{
		client:     client,
		namespaces: namespaces.Lister(),
		configMaps: configMaps.Lister(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, time.Minute),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: name}),
		out: out,
	}
	// Shutdown wakes the worker. The requests of keys that are left fail, and the next start adds all keys.
	context.AfterFunc(ctx, c.queue.ShutDown)

	// A handler does no work. It adds the key of what is to be reconciled.
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, obj any) { c.enqueue(obj) },
		DeleteFunc: c.enqueue,
	}
	namespacesHandled, namespacesErr := namespaces.Informer().AddEventHandler(handler)
	configMapsHandled, configMapsErr := configMaps.Informer().AddEventHandler(handler)
	if err := errors.Join(namespacesErr, configMapsErr); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	factory.StartWithContext(ctx)
	named.StartWithContext(ctx)
	defer factory.Shutdown() // waits until the informer has ended
	defer named.Shutdown()
	defer cancel() // ends them, after a panic, too: otherwise Shutdown would wait forever

	// Until the caches are full, it looks as if the rest had been deleted.
	if !cache.WaitFor(ctx, "", namespacesHandled.HasSyncedChecker(), configMapsHandled.HasSyncedChecker()) {
		return nil // interrupted
	}
	for c.processNextItem(ctx) {
	}
	return nil
}

// controller reads from two caches: all namespaces, and the ConfigMaps of that name.
type controller struct {
	client     kubernetes.Interface
	namespaces corelisters.NamespaceLister
	configMaps corelisters.ConfigMapLister
	queue      workqueue.TypedRateLimitingInterface[string]
	out        io.Writer
}

// enqueue adds the name of a namespace, whichever object has changed.
func (c *controller) enqueue(obj any) {
	if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
		c.queue.Add(cmp.Or(key.Namespace, key.Name)) // a namespace is in no namespace
	}
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

// reconcile makes the ConfigMap of a namespace what it should be.
func (c *controller) reconcile(ctx context.Context, namespace string) error {
	ns, err := c.namespaces.Get(namespace)
	if apierrors.IsNotFound(err) || err == nil && ns.DeletionTimestamp != nil {
		return nil // everything in it is deleted with it
	}
	have, haveErr := c.configMaps.ConfigMaps(namespace).Get(name)
	if apierrors.IsNotFound(haveErr) {
		have, haveErr = nil, nil
	}
	if err := errors.Join(err, haveErr); err != nil {
		return err
	}
	_, wanted := ns.Annotations[annotation]
	data := map[string]string{"labels": labels.Set(ns.Labels).String()} // sorted

	configMaps := c.client.CoreV1().ConfigMaps(namespace)
	switch {
	case have == nil && wanted:
		_, err = configMaps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{managedBy: name}},
			Data:       data,
		}, metav1.CreateOptions{})
	case have == nil, have.Labels[managedBy] != name:
		return nil // there is none, or it is not ours
	// The server refuses to change an immutable one. Once it's deleted, it's missing.
	case !wanted, have.Immutable != nil && *have.Immutable && !maps.Equal(have.Data, data):
		err = configMaps.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &have.UID, ResourceVersion: &have.ResourceVersion}})
	case !maps.Equal(have.Data, data):
		have = have.DeepCopy() // the original belongs to the cache
		have.Data = data
		_, err = configMaps.Update(ctx, have, metav1.UpdateOptions{})
	default:
		return nil
	}
	// The cache was stale. The watch brings what it lacks, and its event enqueues the key. But a create gets a
	// 409 or 404 because of something else, such as a ResourceQuota: that isn't watched.
	if have != nil && (apierrors.IsConflict(err) || apierrors.IsNotFound(err)) || apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	if err == nil {
		_, err = fmt.Fprintln(c.out, "wrote", namespace)
	}
	return err
}

// Yourown makes the labels of a namespace available to its pods, in a ConfigMap in each
// namespace that asks for it.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/04-informer-queue/controller"
)

const (
	name       = "namespace-labels" // of the ConfigMap, and of this program
	annotation = "example.com/namespace-labels"
	managedBy  = "app.kubernetes.io/managed-by"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// labeler reads from two caches: all namespaces, and the ConfigMaps of that name.
type labeler struct {
	client     kubernetes.Interface
	namespaces corelisters.NamespaceLister
	configMaps corelisters.ConfigMapLister
}

func run(ctx context.Context) error {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return err
	}
	config.QPS = -1 // no limit here: the server limits its clients
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	namespaces := coreinformers.NewNamespaceInformer(client, 0, cache.Indexers{})
	configMaps := coreinformers.NewFilteredConfigMapInformer(client, metav1.NamespaceAll, 0, cache.Indexers{},
		func(options *metav1.ListOptions) { options.FieldSelector = "metadata.name=" + name })
	l := &labeler{client, corelisters.NewNamespaceLister(namespaces.GetIndexer()), corelisters.NewConfigMapLister(configMaps.GetIndexer())}

	// A key is the name of a namespace, whichever object has changed.
	queue := controller.New[string](name)
	enqueue := func(obj any) {
		if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			queue.Enqueue(cmp.Or(key.Namespace, key.Name)) // a namespace is in no namespace
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }, DeleteFunc: enqueue}
	_, namespacesErr := namespaces.AddEventHandler(handler)
	_, configMapsErr := configMaps.AddEventHandler(handler)
	if err := errors.Join(namespacesErr, configMapsErr); err != nil {
		return err
	}
	var running sync.WaitGroup
	running.Go(func() { namespaces.RunWithContext(ctx) })
	running.Go(func() { configMaps.RunWithContext(ctx) })
	queue.Run(ctx, 4, l.reconcile, namespaces.HasSyncedChecker(), configMaps.HasSyncedChecker())
	running.Wait()
	return nil
}

// reconcile makes the ConfigMap of a namespace what it should be.
func (l *labeler) reconcile(ctx context.Context, namespace string) error {
	ns, err := l.namespaces.Get(namespace)
	if apierrors.IsNotFound(err) || err == nil && ns.DeletionTimestamp != nil {
		return nil // everything in it is deleted with it
	}
	have, haveErr := l.configMaps.ConfigMaps(namespace).Get(name)
	if apierrors.IsNotFound(haveErr) {
		have, haveErr = nil, nil
	}
	if err := errors.Join(err, haveErr); err != nil {
		return err
	}
	_, wanted := ns.Annotations[annotation]
	data := map[string]string{"labels": labels.Set(ns.Labels).String()} // sorted

	configMaps := l.client.CoreV1().ConfigMaps(namespace)
	switch {
	case have == nil && wanted:
		_, err = configMaps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{managedBy: name}},
			Data:       data,
		}, metav1.CreateOptions{})
	case have == nil, have.Labels[managedBy] != name:
		return nil // there is none, or it is not ours
	case !wanted:
		err = configMaps.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &have.UID, ResourceVersion: &have.ResourceVersion}})
	case !maps.Equal(have.Data, data):
		have = have.DeepCopy() // the original belongs to the cache
		have.Data = data
		_, err = configMaps.Update(ctx, have, metav1.UpdateOptions{})
	default:
		return nil
	}
	// The cache was stale. The watch brings what it lacks, and its event enqueues the key.
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	if err == nil {
		fmt.Println("wrote", namespace)
	}
	return err
}

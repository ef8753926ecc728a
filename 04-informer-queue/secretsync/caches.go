package secretsync

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// caches know what the server has, as far as it matters:
//
//	namespaces   all of them, because annotations cannot be selected
//	sources      the secrets of the source namespace, for the same reason
//	copies       the secrets that bear our label, in all namespaces
//
// All other secrets of the cluster are never sent to this program. The price is
// that it does not see a foreign secret where a copy should be; but the server
// does, and refuses to create the copy. That is early enough.
type caches struct {
	rules      rules
	namespaces cache.SharedIndexInformer
	sources    cache.SharedIndexInformer
	copies     cache.SharedIndexInformer
	enqueue    func(types.NamespacedName)
	handled    []cache.InformerSynced
}

const (
	byName  = "name"
	targets = "targets"
)

// newCaches prepares the caches. They enqueue a key, which is the namespace and
// the name of a copy, whenever something changes that the copy depends on. After
// each resync period they enqueue all.
func newCaches(client kubernetes.Interface, r rules, resync time.Duration, enqueue func(types.NamespacedName)) (*caches, error) {
	c := &caches{rules: r, enqueue: enqueue}
	c.namespaces = coreinformers.NewNamespaceInformer(client, resync, cache.Indexers{targets: c.target})
	c.sources = coreinformers.NewSecretInformer(client, r.sourceNamespace, 0, cache.Indexers{})
	c.copies = coreinformers.NewFilteredSecretInformer(client, metav1.NamespaceAll, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, byName: name},
		func(options *metav1.ListOptions) { options.LabelSelector = copies })

	return c, errors.Join(
		c.namespaces.SetTransform(transform(trimNamespace)),
		c.sources.SetTransform(transform(r.trimSource)),
		c.copies.SetTransform(transform(trim)),
		c.handle(c.namespaces, func(o metav1.Object) { c.namespaceChanged(o.(*corev1.Namespace)) }),
		c.handle(c.sources, func(o metav1.Object) { c.sourceChanged(o.(*secret)) }),
		c.handle(c.copies, c.copyChanged),
	)
}

// namespaceChanged asks for what should be in the namespace, and for what is.
func (c *caches) namespaceChanged(n *corev1.Namespace) {
	if c.rules.isTarget(n) {
		for _, source := range c.sources.GetStore().List() {
			if c.rules.annotated(source.(*secret)) {
				c.enqueue(types.NamespacedName{Namespace: n.Name, Name: source.(*secret).Name})
			}
		}
	}
	c.enqueueCopies(cache.NamespaceIndex, n.Name)
}

// sourceChanged asks for the copies that there should be, and for those there are.
func (c *caches) sourceChanged(s *secret) {
	if c.rules.annotated(s) {
		for _, namespace := range c.namespaces.GetIndexer().ListIndexFuncValues(targets) {
			c.enqueue(types.NamespacedName{Namespace: namespace, Name: s.Name})
		}
	}
	c.enqueueCopies(byName, s.Name)
}

func (c *caches) copyChanged(o metav1.Object) {
	c.enqueue(types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
}

func (c *caches) enqueueCopies(index, value string) {
	copies, _ := c.copies.GetIndexer().ByIndex(index, value) // fails only if there is no such index
	for _, o := range copies {
		c.copyChanged(o.(*secret))
	}
}

// look returns what is known about a key. What does not exist is nil.
func (c *caches) look(key types.NamespacedName) (source *secret, namespace *corev1.Namespace, have *secret) {
	return get[secret](c.sources, types.NamespacedName{Namespace: c.rules.sourceNamespace, Name: key.Name}),
		get[corev1.Namespace](c.namespaces, types.NamespacedName{Name: key.Namespace}),
		get[secret](c.copies, key)
}

func get[T any](informer cache.SharedIndexInformer, key types.NamespacedName) *T {
	object, exists, err := informer.GetStore().GetByKey(cache.NewObjectName(key.Namespace, key.Name).String())
	if err != nil || !exists { // a store in memory has no error to return
		return nil
	}
	return object.(*T)
}

// run keeps the caches up to date until the context ends.
func (c *caches) run(ctx context.Context) {
	var running sync.WaitGroup
	for _, informer := range []cache.SharedIndexInformer{c.namespaces, c.sources, c.copies} {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	running.Wait()
}

// handle calls the function whenever an object is added, changes or goes, and at
// each resync. Which of them it was does not matter.
func (c *caches) handle(informer cache.SharedIndexInformer, changed func(metav1.Object)) error {
	handle := func(object any) {
		if missed, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = missed.Obj
		}
		changed(object.(metav1.Object))
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, object any) { handle(object) },
		DeleteFunc: handle,
	})
	if err != nil {
		return fmt.Errorf("adding a handler: %w", err)
	}
	// Not the informer's HasSynced: that is true when the cache is full, and
	// this when the handler has also been told of all that is in it.
	c.handled = append(c.handled, registration.HasSynced)
	return nil
}

// transform makes a cache keep what the function returns.
func transform[From, To any](trim func(*From) *To) cache.TransformFunc {
	return func(object any) (any, error) {
		if whole, ok := object.(*From); ok {
			return trim(whole), nil
		}
		return object, nil // it has been trimmed before
	}
}

// trimNamespace drops what only others need.
func trimNamespace(n *corev1.Namespace) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion,
		Annotations: n.Annotations, DeletionTimestamp: n.DeletionTimestamp,
	}}
}

// target indexes the namespaces that are targets under their own name.
func (c *caches) target(object any) ([]string, error) {
	if n := object.(*corev1.Namespace); c.rules.isTarget(n) {
		return []string{n.Name}, nil
	}
	return nil, nil
}

func name(object any) ([]string, error) { return []string{object.(metav1.Object).GetName()}, nil }

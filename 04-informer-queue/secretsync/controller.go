package secretsync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/04-informer-queue/controller"
)

// again is the pause before a copy is tried again that a foreign secret is in the way of.
// No watch reports that it is gone.
const again = time.Minute

// syncer makes the copies what the rules want. Its queue holds namespaces and names of
// copies: each copy is a key of its own, so many workers can be busy, and a namespace
// that refuses its copies does not delay the others.
//
// Its caches have what matters of the cluster:
//
//	namespaces   all of them, because annotations cannot be selected
//	sources      the secrets of the source namespace, for the same reason
//	copies       the secrets that bear our label, in all namespaces
//
// All other secrets of the cluster are never sent to this program. So the caches do not
// show a foreign secret where a copy should be. But the server refuses to create the
// copy, and that is early enough.
type syncer struct {
	rules  rules
	client kubernetes.Interface
	out    io.Writer // all workers write to it
	queue  *controller.Controller[types.NamespacedName]

	namespaces, sources, copies cache.SharedIndexInformer
	synced                      []cache.DoneChecker
}

// newSyncer prepares the caches. After each resync period all keys are enqueued.
func newSyncer(client kubernetes.Interface, r rules, resync time.Duration, out io.Writer) (*syncer, error) {
	s := &syncer{
		rules:      r,
		client:     client,
		out:        out,
		queue:      controller.New[types.NamespacedName](program),
		namespaces: coreinformers.NewNamespaceInformer(client, resync, cache.Indexers{}),
		sources:    coreinformers.NewSecretInformer(client, r.sourceNamespace, 0, cache.Indexers{}),
		copies: coreinformers.NewFilteredSecretInformer(client, metav1.NamespaceAll, resync, cache.Indexers{},
			func(options *metav1.ListOptions) { options.LabelSelector = copies }),
	}
	return s, errors.Join(
		s.sources.SetTransform(transform(r.trimSource)),
		s.copies.SetTransform(transform(trim)),
		s.handle(s.namespaces, s.namespaceChanged),
		s.handle(s.sources, s.sourceChanged),
		s.handle(s.copies, s.copyChanged),
	)
}

// handle calls a function whenever an object is added, changes or goes, and at each
// resync. Which of them it was does not matter.
func (s *syncer) handle(informer cache.SharedIndexInformer, changed func(obj any)) error {
	handled, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    changed,
		UpdateFunc: func(_, obj any) { changed(obj) },
		DeleteFunc: func(obj any) {
			if deleted, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = deleted.Obj
			}
			changed(obj)
		},
	})
	if err != nil {
		return err
	}
	// Not the informer's HasSynced: that is true when the cache is full, and this
	// when the handler has been called for all that is in it.
	s.synced = append(s.synced, handled.HasSyncedChecker())
	return nil
}

// runInformers fills the caches, and returns when the context has ended.
func (s *syncer) runInformers(ctx context.Context) {
	var running sync.WaitGroup
	for _, informer := range []cache.SharedIndexInformer{s.namespaces, s.sources, s.copies} {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	running.Wait()
}

func (s *syncer) namespaceChanged(obj any) {
	for _, source := range s.sources.GetStore().List() {
		s.enqueue(source.(*secret), obj.(*corev1.Namespace))
	}
}

func (s *syncer) sourceChanged(obj any) {
	for _, namespace := range s.namespaces.GetStore().List() {
		s.enqueue(obj.(*secret), namespace.(*corev1.Namespace))
	}
}

func (s *syncer) copyChanged(obj any) {
	s.queue.Enqueue(types.NamespacedName{Namespace: obj.(*secret).Namespace, Name: obj.(*secret).Name})
}

// enqueue adds the key of a copy that there should be, or that there is.
func (s *syncer) enqueue(source *secret, namespace *corev1.Namespace) {
	key := types.NamespacedName{Namespace: namespace.Name, Name: source.Name}
	if s.rules.annotated(source) && s.rules.isTarget(namespace) || get[secret](s.copies, key) != nil {
		s.queue.Enqueue(key)
	}
}

// reconcile makes one copy what it should be: it observes, decides and acts.
//
// The caches may be stale. A write that meets another state than they have is refused,
// and a copy is deleted only when the server confirms that it should be. In both cases
// the decision is made again, by what the server has.
func (s *syncer) reconcile(ctx context.Context, key types.NamespacedName) error {
	o := s.cached(key)
	d := s.rules.decide(o)
	var err error
	confirm := d.action == remove || d.action == replace
	if !confirm {
		err = s.act(ctx, key, d, o)
	}
	if confirm || apierrors.IsAlreadyExists(err) {
		if o, err = s.live(ctx, key); err == nil {
			err = s.act(ctx, key, s.rules.decide(o), o)
		}
	}
	// The copy has changed, or is gone, or its namespace is. The watch will report
	// that, and then the key comes back by itself.
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}

// cached reads from the caches.
func (s *syncer) cached(key types.NamespacedName) observed {
	return observed{
		source:    get[secret](s.sources, types.NamespacedName{Namespace: s.rules.sourceNamespace, Name: key.Name}),
		namespace: get[corev1.Namespace](s.namespaces, types.NamespacedName{Name: key.Namespace}),
		have:      get[secret](s.copies, key),
	}
}

func get[T any](informer cache.SharedIndexInformer, key types.NamespacedName) *T {
	obj, exists, err := informer.GetStore().GetByKey(cache.NewObjectName(key.Namespace, key.Name).String())
	if err != nil || !exists { // a store in memory has no error to return
		return nil
	}
	return obj.(*T)
}

// live reads the same from the server.
func (s *syncer) live(ctx context.Context, key types.NamespacedName) (observed, error) {
	source, sourceErr := found(s.client.CoreV1().Secrets(s.rules.sourceNamespace).Get(ctx, key.Name, metav1.GetOptions{}))
	namespace, namespaceErr := found(s.client.CoreV1().Namespaces().Get(ctx, key.Namespace, metav1.GetOptions{}))
	have, haveErr := found(s.client.CoreV1().Secrets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{}))
	if err := errors.Join(sourceErr, namespaceErr, haveErr); err != nil {
		return observed{}, fmt.Errorf("reading %s and its source from the server: %w", key, err)
	}
	return observed{s.rules.trimSource(source), namespace, trim(have)}, nil
}

// found turns an object that is not found into nil.
func found[T any](obj *T, err error) (*T, error) {
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// act does what was decided. No write can change anything but what the decision was
// about: to create fails if there is something, to update if it has another version by
// now, and to delete if it has another version or is another object.
func (s *syncer) act(ctx context.Context, key types.NamespacedName, d decision, o observed) error {
	secrets := s.client.CoreV1().Secrets(key.Namespace)
	var err error
	switch d.action {
	case leave:
		return nil
	case collide:
		s.queue.EnqueueAfter(key, again)
		return s.record(ctx, key, d, o.have, o.source)
	case refuse:
		return s.record(ctx, key, d, o.source, o.source)
	case update:
		_, err = secrets.Update(ctx, s.rules.copyOf(o.source, key.Namespace, o.have), metav1.UpdateOptions{})
	case remove, replace:
		err = secrets.Delete(ctx, key.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &o.have.UID, ResourceVersion: &o.have.ResourceVersion},
		})
	}
	if err == nil && (d.action == create || d.action == replace) {
		_, err = secrets.Create(ctx, s.rules.copyOf(o.source, key.Namespace, nil), metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", key, err)
	}
	s.report(key, d)
	return nil
}

// report prints what was done, and why.
func (s *syncer) report(key types.NamespacedName, d decision) {
	// Output that cannot be written is no reason to stop copying.
	_, _ = fmt.Fprintf(s.out, "%s %s: %s\n", d.action, key, d.why)
}

package secretsync

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/04-informer-queue/controller"
)

// again is how long a foreign secret in the way of a copy is left before the
// server is asked whether it is still there. No watch tells of it.
const again = time.Minute

// syncer makes true what the rules say. Its queue holds namespaces and names of
// copies: each copy is a matter of its own, so many workers can be busy, and a
// namespace that refuses its copies holds up no other.
type syncer struct {
	client kubernetes.Interface
	rules  rules
	caches *caches
	queue  *controller.Controller[types.NamespacedName]
	out    *printer
	events *events

	mu     sync.Mutex
	hidden map[types.NamespacedName]bool // the server has a secret there that the cache may not show
}

func newSyncer(client kubernetes.Interface, r rules, out io.Writer) *syncer {
	return &syncer{
		client: client,
		rules:  r,
		out:    &printer{out: out},
		events: newEvents(client),
		hidden: map[types.NamespacedName]bool{},
	}
}

// run works until the context ends.
func (s *syncer) run(ctx context.Context, workers int, resync time.Duration) error {
	s.queue = controller.New(program, s.reconcile)
	return s.work(ctx, workers, resync)
}

// work fills the caches, and lets the workers follow them.
func (s *syncer) work(ctx context.Context, workers int, resync time.Duration) error {
	var err error
	if s.caches, err = newCaches(s.client, s.rules, resync, s.queue.Enqueue); err != nil {
		return err
	}
	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() { s.caches.run(ctx) })
	s.queue.Run(ctx, workers, s.caches.handled...)
	return nil
}

// reconcile looks, decides and acts.
func (s *syncer) reconcile(ctx context.Context, key types.NamespacedName) error {
	source, namespace, have := s.caches.look(key)
	if have == nil && s.isHidden(key) {
		var err error
		if have, err = s.ask(ctx, key); err != nil {
			return err
		}
	}
	d := s.rules.decide(source, namespace, have)
	s.setHidden(key, d.action == collide)

	err := s.act(ctx, key, d, source, have)
	switch {
	// Something is there that the cache does not show: a foreign secret, or a
	// copy that was made a moment before a crash. Look at it.
	case apierrors.IsAlreadyExists(err):
		s.queue.Enqueue(key)
		return nil

	// It has changed, or is gone, or its namespace is. The cache will hear of
	// that, and then the key comes back by itself.
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil

	default:
		return err
	}
}

// act does what was decided. No write can hit anything but what the decision was
// about: to create fails if there is something, to update if it has another
// version by now, and to delete if it has another version or is another object.
func (s *syncer) act(ctx context.Context, key types.NamespacedName, d decision, source, have *secret) error {
	var err error
	switch d.action {
	case leave:
		return nil
	case collide:
		s.queue.EnqueueAfter(key, again)
		return s.tell(ctx, key, d, have, source)
	case refuse:
		return s.tell(ctx, key, d, source, source)
	case create:
		err = s.create(ctx, key, source)
	case update:
		_, err = s.client.CoreV1().Secrets(key.Namespace).Update(ctx, s.rules.copyOf(source, key.Namespace, have), metav1.UpdateOptions{})
	case remove:
		err = s.delete(ctx, have)
	case replace:
		if err = s.delete(ctx, have); err == nil {
			err = s.create(ctx, key, source)
		}
	}
	if err != nil {
		return fmt.Errorf("to %s %s: %w", d.action, key, err)
	}
	s.out.done(key, d)
	return nil
}

// create makes a copy. The key may come back before the watch has told of it, and
// then the cache is not to be believed.
func (s *syncer) create(ctx context.Context, key types.NamespacedName, source *secret) error {
	_, err := s.client.CoreV1().Secrets(key.Namespace).Create(ctx, s.rules.copyOf(source, key.Namespace, nil), metav1.CreateOptions{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		s.setHidden(key, true)
	}
	return err
}

func (s *syncer) delete(ctx context.Context, have *secret) error {
	return s.client.CoreV1().Secrets(have.Namespace).Delete(ctx, have.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &have.UID, ResourceVersion: &have.ResourceVersion},
	})
}

// tell says once, in an event, why there will be no copy.
func (s *syncer) tell(ctx context.Context, key types.NamespacedName, d decision, about, source *secret) error {
	first, err := s.events.tell(ctx, about, source, d)
	if first {
		s.out.done(key, d)
	}
	return err
}

// ask looks at the server, not at the cache.
func (s *syncer) ask(ctx context.Context, key types.NamespacedName) (*secret, error) {
	whole, err := s.client.CoreV1().Secrets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("looking at the secret %s: %w", key, err)
	}
	return trim(whole), nil
}

func (s *syncer) isHidden(key types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hidden[key]
}

func (s *syncer) setHidden(key types.NamespacedName, hidden bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if hidden {
		s.hidden[key] = true
	} else {
		delete(s.hidden, key)
	}
}

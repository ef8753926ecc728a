package clientgo

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/clientgo/queue"
	"example.com/hacking-a-controller/05-crd-operator/cluster"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// Run works until the context ends, and waits for all that it started. It
// returns an error only if it could not start.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	if config.QPS == 0 {
		// That would be 5 requests a second. The number of workers is restraint
		// enough, and the server protects itself.
		config = rest.CopyConfig(config)
		config.QPS = -1
	}
	ats, err := versioned.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	if err := knock(ctx, ats, kube, o.Namespace); err != nil {
		if ctx.Err() != nil {
			return nil // it was told to stop, and that is no error
		}
		return cluster.Explain(err, config.Host)
	}
	return run(ctx, ats, kube, o.withDefaults())
}

// operator is what all parts of a pass need.
type operator struct {
	ats    versioned.Interface
	kube   kubernetes.Interface
	clock  clock.PassiveClock
	caches *caches
	queue  *queue.Queue[cache.ObjectName] // of Ats
	events *events
}

func run(ctx context.Context, ats versioned.Interface, kube kubernetes.Interface, o Options) error {
	op := &operator{ats: ats, kube: kube, clock: o.Clock}
	op.queue = queue.New("clientgo", o.Clock, op.reconcile)
	// The queue waits for its time in a goroutine of its own, from its creation.
	defer op.queue.ShutDown()

	var err error
	if op.caches, err = newCaches(ats, kube, o.Namespace, op.queue.Enqueue); err != nil {
		return err
	}
	if op.events, err = startEvents(ctx, kube); err != nil {
		return err
	}
	defer op.events.stop() // the workers have ended by then, and tell no more
	op.caches.start(ctx)
	defer op.caches.wait()
	op.queue.Run(ctx, o.Workers, op.caches.handled...)
	return nil
}

// knock asks for a little of what will be listed and watched. An informer that
// is refused tries again for ever, and only the log tells; at the start, a
// refusal is an error.
func knock(ctx context.Context, ats versioned.Interface, kube kubernetes.Interface, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()

	if _, err := ats.CnatV1alpha1().Ats(namespace).List(ctx, metav1.ListOptions{Limit: 1}); apierrors.IsNotFound(err) {
		return errors.New("the cluster does not know Ats; tell it what they are with kubectl apply -f config/crd")
	} else if err != nil {
		return err
	}
	if _, err := kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: lifecycle.PodSelector, Limit: 1}); err != nil {
		return err
	}
	// To list is one right, and to watch is another.
	watched, err := ats.CnatV1alpha1().Ats(namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	watched.Stop()
	if watched, err = kube.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{LabelSelector: lifecycle.PodSelector}); err != nil {
		return err
	}
	watched.Stop()
	return nil
}

package podruntime

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/04-informer-queue/controller"
)

// subject is a program that the benchmark measures. One event at a time is caused,
// arrives, and a line is printed.
type subject struct {
	cause    func(context.Context) error
	arrived  chan time.Time
	printed  chan time.Time
	requests func() int // that it has made so far
}

// starter starts a subject that ends with the context, and is waited for.
type starter func(context.Context, testing.TB) *subject

func newSubject() *subject {
	return &subject{arrived: make(chan time.Time, 1), printed: make(chan time.Time, 1)}
}

// next causes an event and returns how long it took to print the line.
func (s *subject) next(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := s.cause(ctx); err != nil {
		return 0, err
	}
	select {
	case printed := <-s.printed:
		return printed.Sub(<-s.arrived), nil
	case <-ctx.Done():
		return 0, errors.New("nothing was printed within a minute")
	}
}

// Write is the output of the program.
func (s *subject) Write(p []byte) (int, error) {
	s.printed <- time.Now()
	return len(p), nil
}

// listing is the first form, on a real API server: it watches, and at each event
// lists all pods of the namespace and adds up.
func listing(config *rest.Config, namespace string, cause func(context.Context) error) starter {
	return func(ctx context.Context, t testing.TB) *subject {
		s := newSubject()
		s.cause = cause
		pods := s.counted(config).CoreV1().Pods(namespace)
		list, err := pods.List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		events, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		require.NoError(t, err)
		inBackground(t, func() {
			for range events.ResultChan() {
				s.arrived <- time.Now()
				list, err := pods.List(ctx, metav1.ListOptions{})
				if err != nil {
					return // the benchmark is over
				}
				fmt.Fprintf(s, "Pods in namespace %s have been running for %.2f minutes.\n", namespace, naive(list.Items, time.Now())[namespace]/60)
			}
		})
		return s
	}
}

// summing is the program of first/, on a real API server: at each event it goes through
// all pods that its cache has.
func summing(config *rest.Config, namespace string, cause func(context.Context) error) starter {
	return func(ctx context.Context, t testing.TB) *subject {
		s := newSubject()
		s.cause = cause
		var synced atomic.Bool
		informer := coreinformers.NewPodInformer(s.counted(config), namespace, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		pods := corelisters.NewPodLister(informer.GetIndexer())
		queue := controller.New[string]("first")
		enqueue := func(any) { queue.Enqueue(namespace) }
		handled, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, pod any) {
			if synced.Load() {
				s.arrived <- time.Now()
			}
			enqueue(pod)
		}})
		require.NoError(t, err)
		reconcile := func(context.Context, string) error {
			list, err := pods.Pods(namespace).List(labels.Everything())
			if err != nil {
				return err
			}
			var total time.Duration
			for _, pod := range list {
				total += max(0, time.Since(pod.CreationTimestamp.Time))
			}
			_, err = fmt.Fprintf(s, "Pods in namespace %s have been running for %.2f minutes.\n", namespace, total.Minutes())
			return err
		}
		inBackground(t, func() { informer.RunWithContext(ctx) })
		inBackground(t, func() { queue.Run(ctx, 1, reconcile, handled.HasSyncedChecker()) })
		<-s.printed
		synced.Store(true)
		return s
	}
}

// caching is podruntime on a real API server.
func caching(config *rest.Config, namespace string, cause func(context.Context) error) starter {
	return func(ctx context.Context, t testing.TB) *subject {
		s := newSubject()
		s.cause = cause
		s.follow(ctx, t, s.counted(config), namespace)
		return s
	}
}

// cachingFakes is podruntime with a watch to which only the benchmark sends
// events.
func cachingFakes(pods int) starter {
	return func(ctx context.Context, t testing.TB) *subject {
		s := newSubject()
		list := &corev1.PodList{Items: make([]corev1.Pod, pods)}
		for i := range list.Items {
			list.Items[i] = *fakePod(i, pods)
		}
		events := watch.NewRaceFreeFake()
		client := fake.NewClientset()
		client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, list, nil })
		client.PrependWatchReactor("pods", clienttesting.DefaultWatchReactor(events, nil))
		written := pods
		s.cause = func(context.Context) error {
			events.Modify(fakePod(written, pods))
			written++
			return nil
		}
		s.requests = func() int { return len(client.Actions()) }
		s.follow(ctx, t, client, "coast")
		list.Items = nil
		return s
	}
}

// fakePod is what is written ith, to one of so many pods in turn.
func fakePod(i, pods int) *corev1.Pod {
	p, status := realistic(i % pods)
	p.Namespace, p.UID, p.ResourceVersion = "coast", types.UID(strconv.Itoa(i%pods)), strconv.Itoa(i+1)
	status.StartTime = new(metav1.NewTime(began(i)))
	return &corev1.Pod{ObjectMeta: p.ObjectMeta, Status: status}
}

// follow starts podruntime and waits until it has printed what is there.
func (s *subject) follow(ctx context.Context, t testing.TB, client kubernetes.Interface, namespace string) {
	var synced atomic.Bool
	arrive := func(p *corev1.Pod) life {
		if synced.Load() {
			s.arrived <- time.Now()
		}
		return sinceStart(p)
	}
	r, err := newRuntimes(client, namespace, arrive, s)
	require.NoError(t, err)
	inBackground(t, func() { work(ctx, r) })
	<-s.printed
	synced.Store(true)
}

// counted is a client whose requests count.
func (s *subject) counted(config *rest.Config) kubernetes.Interface {
	var requests requests
	config = rest.CopyConfig(config)
	config.Wrap(requests.count)
	s.requests = func() int { return len(requests.all()) }
	return kubernetes.NewForConfigOrDie(config)
}

// startAnew returns a function that changes when a pod of the namespace began to
// run: each time another pod, and to another time.
func startAnew(client kubernetes.Interface, namespace string) func(context.Context) error {
	written := 0
	return func(ctx context.Context) error {
		p, _ := realistic(written % 100)
		patch := fmt.Appendf(nil, `{"status":{"startTime":%q}}`, began(written).Format(time.RFC3339))
		written++
		_, err := client.CoreV1().Pods(namespace).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	}
}

// began is another time for each i.
func began(i int) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second)
}

// inBackground runs until the context of the test has ended, and is waited for.
func inBackground(t testing.TB, program func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		program()
	}()
	t.Cleanup(func() { <-done })
}

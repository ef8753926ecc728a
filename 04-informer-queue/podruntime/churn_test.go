package podruntime

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"example.com/hacking-a-controller/testcluster"
)

var churned = []string{"coast", "harbour", "open-sea"}

func createNamespaces(t testing.TB, client kubernetes.Interface, names ...string) {
	t.Helper()
	for _, name := range names {
		_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			require.NoError(t, err)
		}
	}
}

// churn makes 300 pods in three namespaces. They begin to run, end, are deleted
// and come back, each as far as its number says. It calls the function after
// each of these steps, one at a time, and goes on until all are done, also while
// the API server is away.
func churn(t *testing.T, client kubernetes.Interface, after func(done int)) {
	t.Helper()
	steps := make(chan struct{})
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	go func() {
		defer close(steps)
		for i := range 300 {
			group.Go(func() error { return live(ctx, client, i, steps) })
		}
		_ = group.Wait() // returned again below
	}()
	done := 0
	for range steps {
		done++
		after(done)
	}
	require.NoError(t, group.Wait())
}

// live is what happens to the ith pod: i%6 steps of its life, and for some of
// those that were deleted a second one.
func live(ctx context.Context, client kubernetes.Interface, i int, steps chan<- struct{}) error {
	p := podWriter{client: client, namespace: churned[i%len(churned)], name: fmt.Sprintf("pod-%03d", i)}
	start := time.Now().Add(-time.Duration(i) * time.Minute)
	life := []func(context.Context) error{
		p.create,
		p.status(runs(start)),
		p.status(succeeded(start, start.Add(time.Duration(i)*time.Second))),
		p.delete,
		p.create,
		p.status(runs(start.Add(time.Minute))),
	}
	for k := range i%len(life) + 1 {
		if err := again(ctx, life[k]); err != nil {
			return fmt.Errorf("step %d of %s/%s: %w", k, p.namespace, p.name, err)
		}
		steps <- struct{}{}
	}
	return nil
}

// again repeats a write until the server has taken it.
func again(ctx context.Context, write func(context.Context) error) error {
	var last error
	err := apiwait.PollUntilContextTimeout(ctx, 20*time.Millisecond, testcluster.TestTimeout, true, func(ctx context.Context) (bool, error) {
		last = write(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w, last: %w", err, last)
	}
	return nil
}

// podWriter writes to one pod. An attempt that was made before may have done it
// already, and the server died before it answered.
type podWriter struct {
	client          kubernetes.Interface
	namespace, name string
}

func (p podWriter) create(ctx context.Context) error {
	_, err := p.client.CoreV1().Pods(p.namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (p podWriter) status(status corev1.PodStatus) func(context.Context) error {
	return func(ctx context.Context) error {
		pods := p.client.CoreV1().Pods(p.namespace)
		return retry.RetryOnConflict(retry.DefaultRetry, func() error {
			whole, err := pods.Get(ctx, p.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			whole.Status = status
			_, err = pods.UpdateStatus(ctx, whole, metav1.UpdateOptions{})
			return err
		})
	}
}

func (p podWriter) delete(ctx context.Context) error {
	err := p.client.CoreV1().Pods(p.namespace).Delete(ctx, p.name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

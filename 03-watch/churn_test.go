package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"example.com/hacking-a-controller/testcluster"
)

// writes is what was done to each pod, and the version that it made: ADDED 12,
// MODIFIED 15, MARKED, DELETED. A delete is two writes: the server marks the pod
// with a deletionTimestamp first. The answer has the version of neither.
type writes struct {
	mu    sync.Mutex
	byPod map[string][]string
	done  int
}

func (w *writes) add(pod string, typ watch.EventType, version string) {
	if typ == watch.Deleted {
		w.byPod[pod] = append(w.byPod[pod], "MARKED", "DELETED")
		return
	}
	w.byPod[pod] = append(w.byPod[pod], fmt.Sprintf("%s %s", typ, version))
}

// reported is what was done to each pod by the changes, in the same words.
func reported(changes []change) map[string][]string {
	byPod := map[string][]string{}
	for _, c := range changes {
		words := fmt.Sprintf("%s %s", c.Type, c.Object.GetResourceVersion())
		switch {
		case c.Type == watch.Deleted:
			words = "DELETED"
		case c.Object.GetDeletionTimestamp() != nil:
			words = "MARKED"
		}
		byPod[c.Object.GetName()] = append(byPod[c.Object.GetName()], words)
	}
	return byPod
}

// churn creates 500 pods, changes each, deletes 300 and creates 100 of those
// again, so that 300 are left. It calls the function after each of the 1400
// writes, one at a time.
func churn(t *testing.T, client kubernetes.Interface, namespace string, after func(done int)) *writes {
	t.Helper()
	w := &writes{byPod: map[string][]string{}}
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range 500 {
		group.Go(func() error {
			p := podWriter{pods: client.CoreV1().Pods(namespace), name: fmt.Sprintf("pod-%03d", i)}
			for _, typ := range life(i) {
				version, err := p.write(ctx, typ)
				if err != nil {
					return fmt.Errorf("%s %s: %w", typ, p.name, err)
				}
				w.mu.Lock()
				w.add(p.name, typ, version)
				w.done++
				after(w.done)
				w.mu.Unlock()
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, 1400, w.done)
	return w
}

// life is what happens to the ith pod.
func life(i int) []watch.EventType {
	switch i % 5 {
	case 0:
		return []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Added}
	case 1, 2:
		return []watch.EventType{watch.Added, watch.Modified, watch.Deleted}
	default:
		return []watch.EventType{watch.Added, watch.Modified}
	}
}

// podWriter writes to one pod, also while the API server starts again.
type podWriter struct {
	pods typedcorev1.PodInterface
	name string
}

func (p podWriter) write(ctx context.Context, typ watch.EventType) (version string, err error) {
	var last error
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, testcluster.TestTimeout, true, func(ctx context.Context) (bool, error) {
		var pod *corev1.Pod
		pod, last = p.once(ctx, typ)
		if last == nil {
			version = pod.ResourceVersion
		}
		return last == nil, nil
	})
	if err != nil {
		return "", fmt.Errorf("%w, last: %w", err, last)
	}
	return version, nil
}

// once makes one attempt. One that was made before may have done it already,
// and the server died before it answered.
func (p podWriter) once(ctx context.Context, typ watch.EventType) (*corev1.Pod, error) {
	switch typ {
	case watch.Added:
		pod, err := p.pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: p.name},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
		}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return p.pods.Get(ctx, p.name, metav1.GetOptions{})
		}
		return pod, err
	case watch.Modified:
		return p.pods.Patch(ctx, p.name, types.MergePatchType, []byte(`{"metadata":{"labels":{"changed":"yes"}}}`), metav1.PatchOptions{})
	default:
		err := p.pods.Delete(ctx, p.name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return &corev1.Pod{}, err
	}
}

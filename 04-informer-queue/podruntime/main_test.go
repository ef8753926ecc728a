package podruntime

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/internal/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// shared returns the cluster that tests share, with these namespaces. Podruntime
// watches all namespaces, so no test leaves a pod behind.
func shared(t *testing.T, namespaces ...string) *testcluster.Cluster {
	t.Helper()
	c := testcluster.Shared(t)
	createNamespaces(t, c.Client, namespaces...)
	t.Cleanup(func() {
		for _, name := range namespaces {
			assert.NoError(t, c.Client.CoreV1().Pods(name).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}))
		}
	})
	return c
}

// work is what the program does without a monitor, until the context ends.
func work(ctx context.Context, r *runtimes) {
	var running sync.WaitGroup
	running.Go(func() { r.informer.RunWithContext(ctx) })
	r.queue.Run(ctx, 1, r.reconcile, r.handled.HasSyncedChecker())
	running.Wait()
}

// program is the whole program, with its command line.
func program(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run(ctx, Command(), args, stdout, stderr)
}

// naive is the plain sum, for the tests to compare with:
// one addition for each pod.
func naive(pods []corev1.Pod, now time.Time) map[string]float64 {
	sums := map[string]float64{}
	for _, pod := range pods {
		sums[pod.Namespace] += naiveLife(pod.Status, now).Seconds()
	}
	return sums
}

func naiveLife(status corev1.PodStatus, now time.Time) time.Duration {
	if status.StartTime == nil {
		return 0
	}
	end := now
	if status.Phase == corev1.PodSucceeded || status.Phase == corev1.PodFailed {
		end = status.StartTime.Time
		for _, container := range status.ContainerStatuses {
			if finished := container.State.Terminated.FinishedAt; finished.After(end) {
				end = finished.Time
			}
		}
	}
	return end.Sub(status.StartTime.Time)
}

// runs and ended are statuses that a kubelet would write.
func runs(start time.Time) corev1.PodStatus {
	return corev1.PodStatus{
		Phase:             corev1.PodRunning,
		StartTime:         new(metav1.NewTime(start)),
		ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
	}
}

func succeeded(start, end time.Time) corev1.PodStatus {
	status := runs(start)
	status.Phase = corev1.PodSucceeded
	status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(end)}}
	return status
}

package behaviour

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/testcluster"
)

// podLog notes every pod that ever was in a namespace, as it was at first.
type podLog struct {
	mu   sync.Mutex
	seen map[types.UID]*corev1.Pod
}

func watchPods(t *testing.T, c kubernetes.Interface, namespace string) *podLog {
	t.Helper()
	log := &podLog{seen: map[types.UID]*corev1.Pod{}}
	informer := coreinformers.NewPodInformer(c, namespace, 0, cache.Indexers{})
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(pod any) { log.note(pod.(*corev1.Pod)) },
		UpdateFunc: func(_, pod any) { log.note(pod.(*corev1.Pod)) },
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		informer.RunWithContext(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	require.Eventually(t, informer.HasSynced, testcluster.TestTimeout, pause)
	return log
}

func (l *podLog) note(pod *corev1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[pod.UID] == nil {
		l.seen[pod.UID] = pod
	}
}

func (l *podLog) has(uid types.UID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen[uid] != nil
}

// owners are the names of the Ats that own the pods, one for each pod. To be sure
// that it has seen all pods, it makes one more and waits until it sees that.
func (l *podLog) owners(s *env) []string {
	s.t.Helper()
	last := s.foreignPod(fmt.Sprintf("last-%d", s.clock.Now().UnixNano()))
	s.eventually("the log of pods to be complete", func(context.Context) (any, bool) { return last.Name, l.has(last.UID) })
	s.deletePod(last.Name)

	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, pod := range l.seen {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "At" {
			all = append(all, owner.Name)
		}
	}
	slices.Sort(all)
	return all
}

// foreignPod makes a pod that no operator has made.
func (s *env) foreignPod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: lifecycle.DesiredPod(&cnat.At{}, lifecycle.DefaultImage).Spec}
	for _, f := range change {
		f(pod)
	}
	pod, err := s.client.CoreV1().Pods(s.namespace).Create(s.t.Context(), pod, metav1.CreateOptions{})
	require.NoError(s.t, err)
	return pod
}

// pod waits until there is a pod of this name.
func (s *env) pod(name string) *corev1.Pod {
	s.t.Helper()
	var pod *corev1.Pod
	s.eventually("the pod "+name, func(ctx context.Context) (any, bool) {
		var err error
		pod, err = s.client.CoreV1().Pods(s.namespace).Get(ctx, name, metav1.GetOptions{})
		return err, err == nil
	})
	return pod
}

// deletePod waits until there is such a pod, and deletes it.
func (s *env) deletePod(name string) {
	s.t.Helper()
	s.pod(name)
	require.NoError(s.t, s.client.CoreV1().Pods(s.namespace).Delete(s.t.Context(), name, metav1.DeleteOptions{}))
}

// patchPod waits until there is such a pod, and patches it.
func (s *env) patchPod(name, patch string, subresource ...string) {
	s.t.Helper()
	s.pod(name)
	_, err := s.client.CoreV1().Pods(s.namespace).Patch(s.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresource...)
	require.NoError(s.t, err)
}

// gone waits until there is no pod of this name.
func (s *env) gone(name string) {
	s.t.Helper()
	s.eventually("the pod "+name+" to vanish", func(ctx context.Context) (any, bool) {
		_, err := s.client.CoreV1().Pods(s.namespace).Get(ctx, name, metav1.GetOptions{})
		return err, apierrors.IsNotFound(err)
	})
}

// released waits until the operator has let the pod go.
func (s *env) released(name string) {
	s.t.Helper()
	s.eventually("the pod "+name+" to be let go", func(ctx context.Context) (any, bool) {
		pod, err := s.client.CoreV1().Pods(s.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err, apierrors.IsNotFound(err)
		}
		return pod.Finalizers, !slices.Contains(pod.Finalizers, lifecycle.Finalizer)
	})
}

// ends is what a kubelet reports when the command of a pod has ended.
func (s *env) ends(pod string, exitCode int) {
	s.t.Helper()
	phase := corev1.PodSucceeded
	if exitCode != 0 {
		phase = corev1.PodFailed
	}
	s.patchPod(pod, fmt.Sprintf(`{"status":{"phase":%q,"containerStatuses":[{"name":"command","image":"busybox","imageID":"","restartCount":0,"ready":false,
		"state":{"terminated":{"exitCode":%d,"finishedAt":%q}}}]}}`, phase, exitCode, finished), "status")
}

// finished is when all commands end that end by themselves.
const finished = day + "T11:30:00Z"

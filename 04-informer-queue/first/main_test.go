//go:build !try

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// start runs the controller. Its context ends when the controller has ended by itself;
// stop ends it.
func start(t *testing.T, config *rest.Config, out io.Writer) (ctx context.Context, stop func() error) {
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, config, out)
		cancel(errors.Join(errors.New("the controller has ended"), err))
		ended <- err
	}()
	return ctx, func() error {
		cancel(nil)
		select {
		case err := <-ended:
			return err
		case <-time.After(testcluster.TestTimeout):
			return errors.New("the controller does not end with its context")
		}
	}
}

func TestItCanBeStoppedBeforeItsCacheIsFull(t *testing.T) {
	_, stop := start(t, &rest.Config{Host: "http://127.0.0.1:1"}, io.Discard)
	require.NoError(t, stop())
}

func TestALineIsPrintedWhenAPodChanges(t *testing.T) {
	c := testcluster.Shared(t)
	_, err := c.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "harbour"}}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) { // the test may run several times
		require.NoError(t, err)
	}
	pods := c.Client.CoreV1().Pods("harbour")
	create := func(name string) {
		container := corev1.Container{Name: "main", Image: "busybox"}
		_, err := pods.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{container}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	remove := func(name string) {
		require.NoError(t, pods.Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	}

	tone := 0
	label := func(name string) {
		tone++
		_, err := pods.Patch(t.Context(), name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{"tone":"%d"}}}`, tone), metav1.PatchOptions{})
		assert.NoError(t, err)
	}

	create("bell")
	var out testcluster.Output
	ctx, stop := start(t, c.Config, &out)
	last := func() string { return out.Lines()[len(out.Lines())-1] }
	becomes := func(condition func() bool, what string) {
		t.Helper()
		require.Eventually(t, func() bool { return condition() || ctx.Err() != nil }, testcluster.TestTimeout, 10*time.Millisecond, what)
		require.NoError(t, context.Cause(ctx))
	}
	becomes(func() bool { return strings.Contains(last(), "harbour") }, "what was there at the start is printed")
	printed := len(out.Lines())
	create("buoy")
	becomes(func() bool { return len(out.Lines()) > printed }, "a new pod is a line")
	printed = len(out.Lines())
	label("bell")
	becomes(func() bool { return len(out.Lines()) > printed }, "a pod that changes is a line")

	const nothing = "Pods in namespace harbour have been running for 0.00 minutes."
	becomes(func() bool { label("bell"); return last() != nothing }, "the pods grow older")
	remove("bell")
	remove("buoy")
	becomes(func() bool { return last() == nothing }, "a pod that is deleted is a line, and no pod is left")
	require.NoError(t, stop())
}

// A deletion while the watch is broken, and which the server has forgotten since, is found by comparing
// a new list with the cache.
func TestADeletionDuringAnOutageIsALine(t *testing.T) {
	c := testcluster.Start(t)
	proxy, through := testcluster.StartProxy(t, c.Config)
	create := func(namespace, name string) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}}
		require.Eventually(t, func() bool {
			_, err := c.Client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
			return err == nil
		}, testcluster.TestTimeout, 20*time.Millisecond, "the API server may be starting")
	}
	_, err := c.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "harbour"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	create("default", "buoy")
	var out testcluster.Output
	ctx, stop := start(t, through, &out)
	prints := func(line string, times int) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Count(out.String(), line) >= times || ctx.Err() != nil }, testcluster.TestTimeout, 10*time.Millisecond, line)
		require.NoError(t, context.Cause(ctx))
	}
	prints("namespace default", 1)

	out.Take()
	proxy.Refuse()
	require.NoError(t, c.Client.CoreV1().Pods("default").Delete(t.Context(), "buoy", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	c.KillServer(t) // it forgets what happened so far
	create("harbour", "lamp")
	proxy.Allow()
	prints("namespace harbour", 1)
	create("harbour", "last") // its event comes after all that the list had
	prints("namespace harbour", 2)
	assert.Contains(t, out.String(), "Pods in namespace default have been running for 0.00 minutes.", "the namespace whose last pod is gone")
	require.NoError(t, stop())
}

// panicking is an output that panics.
type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("no paper") }

// A program that hangs after a panic is neither restarted nor understood.
func TestAPanicEndsTheProgram(t *testing.T) {
	c := testcluster.Shared(t)
	pods := c.Client.CoreV1().Pods(metav1.NamespaceDefault)
	_, err := pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "bell"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	defer func() {
		require.NoError(t, pods.Delete(context.WithoutCancel(t.Context()), "bell", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	}()

	reason := make(chan any, 1)
	go func() {
		defer func() { reason <- recover() }()
		_ = run(t.Context(), c.Config, panicking{})
	}()
	select {
	case r := <-reason:
		assert.Equal(t, "no paper", r)
	case <-time.After(testcluster.TestTimeout):
		assert.Fail(t, "the program hangs after a panic")
	}
}

func TestItEndsAfterTheLineThatItIsWriting(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out := &slow{begun: stop, ended: make(chan struct{})}
	config := serverWith(t, []*corev1.Pod{pod("harbour", "bell", time.Hour)})
	var err error
	go func() {
		defer close(out.ended)
		err = run(ctx, config, out)
	}()
	<-out.ended
	require.NoError(t, err)
	assert.True(t, out.written.Load(), "it ended before the line was written")
}

// slow is an output that takes its time.
type slow struct {
	begun   func() // is called when a line begins
	ended   chan struct{}
	written atomic.Bool
}

func (s *slow) Write(line []byte) (int, error) {
	s.begun()
	select {
	case <-s.ended: // too early
	case <-time.After(100 * time.Millisecond):
		s.written.Store(true)
	}
	return len(line), nil
}

func TestReconcileAddsUpThePodsOfOneNamespace(t *testing.T) {
	var out testcluster.Output
	c := newController(&out, pod("harbour", "bell", time.Hour), pod("harbour", "buoy", time.Hour), pod("coast", "lamp", time.Hour))
	defer c.queue.ShutDown()
	require.NoError(t, c.reconcile(t.Context(), "harbour"))
	assert.Regexp(t, `^Pods in namespace harbour have been running for 12\d\.\d\d minutes\.$`, out.Lines()[0])
}

func TestAPodOfTheFutureTakesNothingAway(t *testing.T) {
	var out testcluster.Output
	c := newController(&out, pod("harbour", "bell", time.Hour), pod("harbour", "buoy", -5*time.Hour))
	defer c.queue.ShutDown()
	require.NoError(t, c.reconcile(t.Context(), "harbour"))
	assert.Contains(t, out.String(), "have been running for 60.")
}

func TestALineThatCannotBeWrittenIsAnError(t *testing.T) {
	c := newController(full{})
	defer c.queue.ShutDown()
	require.ErrorContains(t, c.reconcile(t.Context(), "harbour"), "no space left on device")
}

func TestAHandlerAddsTheKeyAndDoesNoWork(t *testing.T) {
	var out testcluster.Output
	c := newController(&out)
	defer c.queue.ShutDown()
	c.enqueue(pod("harbour", "bell", time.Hour))
	c.enqueue(pod("harbour", "buoy", time.Hour))
	require.Equal(t, 1, c.queue.Len(), "two pods of a namespace are one key")
	key, _ := c.queue.Get()
	assert.Equal(t, "harbour", key)
	assert.Empty(t, out.String())
}

func TestADeletionThatTheWatchMissedIsAKey(t *testing.T) {
	c := newController(io.Discard)
	defer c.queue.ShutDown()
	c.enqueue(cache.DeletedFinalStateUnknown{Key: "coast/bell", Obj: pod("coast", "bell", time.Hour)})
	require.Equal(t, 1, c.queue.Len())
	key, _ := c.queue.Get()
	assert.Equal(t, "coast", key)
}

// The line of a key cannot be written at first. It comes all the same.
func TestAFailureIsRetried(t *testing.T) {
	c := newController(full{})
	defer c.queue.ShutDown()
	c.queue.Add("coast")
	require.True(t, c.processNextItem(t.Context()), "a key that fails is no reason to stop")
	assert.Equal(t, 1, c.queue.NumRequeues("coast"))
	var out testcluster.Output
	c.out = &out
	require.Eventually(t, func() bool { return c.queue.Len() == 1 }, testcluster.TestTimeout, time.Millisecond, "the key comes back")
	require.True(t, c.processNextItem(t.Context()))
	assert.Equal(t, 0, c.queue.NumRequeues("coast"), "its failure is forgotten")
	assert.Equal(t, []string{"Pods in namespace coast have been running for 0.00 minutes."}, out.Lines())
}

func TestTheWorkerEndsWithTheQueue(t *testing.T) {
	c := newController(io.Discard)
	c.queue.Add("coast")
	c.queue.ShutDown()
	assert.True(t, c.processNextItem(t.Context()), "what waits is finished")
	assert.False(t, c.processNextItem(t.Context()))
}

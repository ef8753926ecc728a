package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// load is Ats in a namespace, some of which are due in each second.
type load struct {
	*lab
	t         *testing.T
	namespace string
	each      int                // so many in each second
	enough    context.CancelFunc // creates no more
	done      chan struct{}      // closed when the last is created
	created   int
	pods      *podLog
}

// startLoad creates so many Ats each second, due one or two seconds later, until finish.
func (l *lab) startLoad(t *testing.T, namespace string, each int) *load {
	t.Helper()
	_, err := l.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	o := &load{lab: l, t: t, namespace: namespace, each: each, enough: cancel, done: make(chan struct{}), pods: l.watchPods(t, namespace)}
	go o.create(ctx) // at least once
	t.Cleanup(func() { cancel(); <-o.done })
	return o
}

func (o *load) create(ctx context.Context) {
	defer close(o.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		// luck: an At that is created late runs late, and is counted
		due := time.Now().Add(2 * time.Second)
		for range o.each {
			o.createNext(due)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (o *load) createNext(due time.Time) {
	// The server may be down. Then this one is created next, unless the request has
	// reached the server and only the answer was lost. For the same reason the end of the
	// load does not cut a request off.
	err := o.createAt(o.t.Context(), o.namespace, fmt.Sprintf("at-%d", o.created), due, "echo YAY")
	if err == nil || apierrors.IsAlreadyExists(err) {
		o.created++
	}
}

func (l *lab) createAt(ctx context.Context, namespace, name string, due time.Time, command string) error {
	_, err := l.ats.CnatV1alpha1().Ats(namespace).Create(ctx, &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       cnat.AtSpec{Schedule: due.UTC().Format(time.RFC3339), Command: command},
	}, metav1.CreateOptions{})
	return err
}

// atLeast waits until so many Ats are done.
func (o *load) atLeast(count int) {
	o.t.Helper()
	o.eventually(fmt.Sprintf("%d Ats to be done", count), func() string {
		if done := o.complete(); len(done) < count {
			return fmt.Sprint(done)
		}
		return ""
	})
}

// finish creates no more, and waits until all are done. Then each At has had one pod, and
// that has run its command once.
func (o *load) finish() {
	o.t.Helper()
	o.enough()
	<-o.done
	var names []string
	for i := range o.created {
		names = append(names, fmt.Sprintf("at-%d", i))
	}
	o.eventually("each At to be done", func() string {
		complete := o.complete()
		if lost := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(complete, name) }); len(lost) > 0 {
			return fmt.Sprint("these are not: ", lost)
		}
		return ""
	})
	o.pods.wereOnce(names...)
	pods := o.client.CoreV1().Pods(o.namespace)
	for _, name := range names {
		pod, err := pods.Get(o.t.Context(), lifecycle.PodName(name), metav1.GetOptions{})
		require.NoError(o.t, err)
		require.Len(o.t, pod.Status.ContainerStatuses, 1)
		assert.Zero(o.t, pod.Status.ContainerStatuses[0].RestartCount, name)
		log, err := pods.GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(o.t.Context())
		require.NoError(o.t, err)
		assert.Equal(o.t, "YAY\n", string(log), name)
	}
	// That takes a while, and nobody has to wait for it now.
	require.NoError(o.t, o.client.CoreV1().Namespaces().Delete(o.t.Context(), o.namespace, metav1.DeleteOptions{}))
}

// complete is the names of those that have run their command.
func (o *load) complete() []string {
	all, err := o.ats.CnatV1alpha1().Ats(o.namespace).List(o.t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil
	}
	var names []string
	for _, at := range all.Items {
		if meta.IsStatusConditionTrue(at.Status.Conditions, cnat.Complete) {
			names = append(names, at.Name)
		}
	}
	return names
}

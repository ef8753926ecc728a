package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// load is Ats in a namespace, one of which is due in each second.
type load struct {
	*lab
	t         *testing.T
	namespace string
	enough    context.CancelFunc // creates no more
	done      chan struct{}      // closed when the last is created
	created   int

	mu   sync.Mutex
	pods map[string]map[types.UID]bool // that ever were, by their At
}

// startLoad creates an At each second, due some seconds later, until finish.
func (l *lab) startLoad(t *testing.T, namespace string) *load {
	t.Helper()
	_, err := l.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	o := &load{lab: l, t: t, namespace: namespace, enough: cancel, done: make(chan struct{}), pods: map[string]map[types.UID]bool{}}
	o.watchPods(t.Context())
	go o.create(ctx)
	t.Cleanup(func() { cancel(); <-o.done })
	return o
}

func (o *load) create(ctx context.Context) {
	defer close(o.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		at := &cnat.At{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("at-%d", o.created)},
			Spec:       cnat.AtSpec{Schedule: time.Now().Add(4 * time.Second).UTC().Format(time.RFC3339), Command: "true"},
		}
		// The server may be down. Then this one is created at the next tick, unless the
		// request has reached the server and only the answer was lost. For the same reason
		// the end of ctx does not cut a request off.
		_, err := o.ats.CnatV1alpha1().Ats(o.namespace).Create(o.t.Context(), at, metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) {
			o.created++
		}
	}
}

// watchPods notes each pod that ever is.
func (o *load) watchPods(ctx context.Context) {
	o.t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(o.client, 0, informers.WithNamespace(o.namespace))
	note := func(object any) {
		pod := object.(*corev1.Pod)
		o.mu.Lock()
		defer o.mu.Unlock()
		name := pod.Labels["app"]
		if o.pods[name] == nil {
			o.pods[name] = map[types.UID]bool{}
		}
		o.pods[name][pod.UID] = true
	}
	informer := factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, now any) { note(now) }})
	require.NoError(o.t, err)
	factory.StartWithContext(ctx)
	o.t.Cleanup(factory.Shutdown)
	require.True(o.t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
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

// finish creates no more, waits until all are done, and sees that each was run once.
func (o *load) finish() {
	o.t.Helper()
	o.enough()
	<-o.done
	o.atLeast(o.created)
	o.mu.Lock()
	defer o.mu.Unlock()
	assert.Len(o.t, o.pods, o.created)
	for _, name := range slices.Sorted(maps.Keys(o.pods)) {
		assert.Len(o.t, o.pods[name], 1, "%s has had more than one pod", name)
	}
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

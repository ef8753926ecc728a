package e2e

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// podLog notes every pod that ever was in a namespace.
type podLog struct {
	lab       *lab
	namespace string

	mu   sync.Mutex
	seen map[types.UID]string // the name of each
}

func (l *lab) watchPods(t *testing.T, namespace string) *podLog {
	t.Helper()
	log := &podLog{lab: l, namespace: namespace, seen: map[types.UID]string{}}
	note := func(object any) {
		pod := object.(*corev1.Pod)
		log.mu.Lock()
		defer log.mu.Unlock()
		log.seen[pod.UID] = pod.Name
	}
	factory := informers.NewSharedInformerFactoryWithOptions(l.client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, now any) { note(now) }})
	require.NoError(t, err)
	factory.StartWithContext(t.Context())
	t.Cleanup(factory.Shutdown)
	require.True(t, cache.WaitFor(t.Context(), "", informer.HasSyncedChecker()))
	return log
}

// wereOnce asserts that these Ats have had one pod each, and that there were no others.
func (p *podLog) wereOnce(ats ...string) {
	p.lab.t.Helper()
	// When the last pod is seen, all before it were. It waits at a gate, and never runs.
	last := lifecycle.DesiredPod(&cnat.At{ObjectMeta: metav1.ObjectMeta{Name: "last"}}, lifecycle.DefaultImage)
	last.Labels, last.OwnerReferences, last.Finalizers = nil, nil, nil
	last.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/never"}}
	last, err := p.lab.client.CoreV1().Pods(p.namespace).Create(p.lab.t.Context(), last, metav1.CreateOptions{})
	require.NoError(p.lab.t, err)
	p.lab.eventually("the log of pods to be complete", func() string {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.seen[last.UID] == "" {
			return "it lacks " + last.Name
		}
		return ""
	})
	want := []string{last.Name}
	for _, at := range ats {
		want = append(want, lifecycle.PodName(at))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var got []string
	for _, name := range p.seen {
		got = append(got, name)
	}
	assert.ElementsMatch(p.lab.t, want, got)
}

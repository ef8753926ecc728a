package behaviour

import (
	"context"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// names are cases in which there is a pod already.
var names = map[string]testCase{
	"a pod of somebody else is left alone": func(s *env) { s.inTheWay(func(*corev1.Pod) {}) },

	"an At of the same name waits for the pod of the one before": func(s *env) {
		s.start()
		s.create("kettle", "09:00:00")
		first := s.pod("kettle-pod")
		s.delete("kettle")
		second := s.create("kettle", "09:00:00")
		s.released("kettle-pod")
		s.becomes("kettle", running)
		s.probe()
		s.ran("kettle")
		assert.Equal(s.t, running, words(s.get("kettle")), "the garbage collector is late, and that is nothing to report")

		s.deletePod("kettle-pod") // the garbage collector
		s.step = time.Second
		pod := s.podOf(second)
		assert.NotEqual(s.t, first.UID, pod.UID)
		assert.True(s.t, metav1.IsControlledBy(pod, second))
		s.ran("kettle", "kettle")
		s.recorded("kettle", "Normal Started")
	},

	"an At that is deleted while its command runs lets its pod go": func(s *env) {
		o := s.start()
		s.create("kettle", "09:00:00")
		s.pod("kettle-pod")
		s.recorded("kettle", "Normal Started")
		s.probe()
		o.requests.reset()
		s.delete("kettle")
		s.deletePod("kettle-pod") // the garbage collector
		s.gone("kettle-pod")
		s.probe()
		// A stale cache may make it try again, in vain. When neither is in a cache any more, it
		// looks for a pod that has lost its label.
		assert.Subset(s.t, []string{"get ats", "get pods", "write pods"}, o.requests.about("kettle"))
		s.ran("kettle")
	},

	"a pod that is orphaned while no operator is there is let go": func(s *env) {
		o := s.start()
		s.create("kettle", "09:00:00")
		s.pod("kettle-pod")
		o.stop()
		s.patchPod("kettle-pod", `{"metadata":{"ownerReferences":null}}`) // kubectl delete --cascade=orphan
		s.delete("kettle")
		s.start()
		s.released("kettle-pod")
		s.probe()
		s.ran("kettle")
		s.pod("kettle-pod")
	},

	"a pod that loses the label of the operator is followed once that is back": func(s *env) {
		s.start()
		s.create("kettle", "09:00:00")
		s.runs("kettle")
		s.patchPod("kettle-pod", `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)
		s.becomes("kettle", lost)
		s.ends("kettle-pod", 0) // which the operator cannot see
		for range 3 {
			s.clock.Step(10 * time.Second)
			s.probe()
		}
		assert.Equal(s.t, lost, words(s.get("kettle")))
		s.recorded("kettle", "Normal Started", "Warning PodLabelRemoved")

		s.patchPod("kettle-pod", `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"cnat"}}}`)
		s.becomes("kettle", succeeded)
		s.released("kettle-pod")
		s.ran("kettle")
	},

	"a pod that has lost the label of the operator is let go when its At is deleted": func(s *env) {
		s.start()
		s.create("kettle", "09:00:00")
		s.runs("kettle")
		s.patchPod("kettle-pod", `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)
		s.becomes("kettle", lost)
		s.delete("kettle")
		s.deletePod("kettle-pod") // which the garbage collector would do
		s.gone("kettle-pod")
		s.ran("kettle")
	},
}

// podOf waits until there is a pod of this At.
func (s *env) podOf(at *cnat.At) *corev1.Pod {
	s.t.Helper()
	var pod *corev1.Pod
	s.eventually("the pod of "+at.Name, func(context.Context) (any, bool) {
		pod = s.pod(at.Name + "-pod")
		return pod.OwnerReferences, metav1.IsControlledBy(pod, at)
	})
	return pod
}

// inTheWay puts a pod in the way of an At, and later removes it.
func (s *env) inTheWay(change func(*corev1.Pod)) {
	s.t.Helper()
	before := s.foreignPod("kettle-pod", change)
	o := s.start()
	s.create("kettle", "11:00:00")
	o.sleepsUntil("11:00:00")
	s.becomes("kettle", waiting)
	s.jump("11:00:00")
	s.becomes("kettle", taken)
	s.recorded("kettle", "Warning PodNameTaken")

	// However often it reconciles again, it does and reports nothing more.
	for range 5 {
		s.clock.Step(10 * time.Second)
		s.probe()
	}
	s.recorded("kettle", "Warning PodNameTaken")
	now := s.pod("kettle-pod")
	assert.Equal(s.t, before.UID, now.UID)
	assert.Equal(s.t, before.ResourceVersion, now.ResourceVersion, "somebody has touched the pod")
	assert.Equal(s.t, taken, words(s.get("kettle")))

	s.deletePod("kettle-pod")
	s.step = time.Second
	s.runs("kettle") // its pod is seen
	assert.NotEqual(s.t, before.UID, s.pod("kettle-pod").UID)
	s.recorded("kettle", "Normal Started", "Warning PodNameTaken")
	s.ends("kettle-pod", 0)
	s.becomes("kettle", succeeded)
}

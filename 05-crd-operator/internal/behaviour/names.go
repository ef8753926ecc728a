package behaviour

import (
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// names are stories in which there is a pod already.
var names = map[string]story{
	"a pod of somebody else is left alone": func(s *scene) { s.inTheWay(func(*corev1.Pod) {}) },

	"a pod with the labels of an operator is left alone": func(s *scene) {
		s.inTheWay(func(p *corev1.Pod) {
			p.Labels = map[string]string{"app": "kettle", "app.kubernetes.io/managed-by": "cnat"}
		})
	},

	"a pod in the way stays until it is too late": func(s *scene) {
		before := s.foreignPod("kettle-pod")
		o := s.start()
		s.create("kettle", "11:00:00", deadline(15))
		o.sleepsUntil("11:00:00")
		s.jump("11:00:00")
		s.becomes("kettle", blocked("PodNameTaken"))
		s.step = time.Second
		s.becomes("kettle", missed)
		assert.False(s.t, s.clock.Now().Before(moment("11:00:16")))
		s.told("kettle", "Warning PodNameTaken", "Warning StartingDeadlineExceeded")
		assert.Equal(s.t, before.UID, s.pod("kettle-pod").UID)
		s.deletePod("kettle-pod")
		s.probe()
		s.ran()
	},

	"an At of the same name waits for the pod of the one before": func(s *scene) {
		s.start()
		s.create("kettle", "09:00:00")
		s.becomes("kettle", running)
		first := s.pod("kettle-pod")
		s.delete("kettle")
		second := s.create("kettle", "09:00:00")
		s.probe()
		s.ran("kettle")
		assert.Empty(s.t, words(s.get("kettle")), "the garbage collector is late, and that is nothing to tell")

		s.deletePod("kettle-pod") // the garbage collector
		s.becomes("kettle", running)
		pod := s.pod("kettle-pod")
		assert.NotEqual(s.t, first.UID, pod.UID)
		assert.True(s.t, metav1.IsControlledBy(pod, second))
		s.ran("kettle", "kettle")
		s.told("kettle", "Normal Started")
	},

	"an At of the same name waits for a pod that is going": func(s *scene) {
		o := s.start()
		s.create("kettle", "09:00:00")
		s.becomes("kettle", running)
		s.patchPod("kettle-pod", `{"metadata":{"finalizers":["example.com/slow"]}}`)
		s.delete("kettle")
		s.deletePod("kettle-pod")
		s.create("kettle", "09:00:00")
		s.probe()
		s.ran("kettle")
		assert.Empty(s.t, words(s.get("kettle")))
		o.stop()
		s.start()
		s.probe()
		s.patchPod("kettle-pod", `{"metadata":{"finalizers":null}}`)
		s.becomes("kettle", running)
		s.ran("kettle", "kettle")
		s.told("kettle", "Normal Started")
	},

	"an At of the same name may come while no operator is there": func(s *scene) {
		o := s.start()
		s.create("kettle", "09:00:00")
		s.becomes("kettle", running)
		o.stop()
		s.delete("kettle")
		s.deletePod("kettle-pod")
		s.create("kettle", "09:00:00")
		s.start()
		s.becomes("kettle", running)
		s.ran("kettle", "kettle")
	},

	"an At that is deleted while its command runs is not missed": func(s *scene) {
		o := s.start()
		s.create("kettle", "09:00:00")
		s.becomes("kettle", running)
		s.told("kettle", "Normal Started")
		s.probe()
		o.requests.reset()
		s.delete("kettle")
		s.deletePod("kettle-pod") // the garbage collector
		s.probe()
		assert.Empty(s.t, o.requests.about("kettle"))
		s.ran("kettle")
	},
}

// inTheWay puts a pod in the way of an At, and later removes it.
func (s *scene) inTheWay(change func(*corev1.Pod)) {
	s.t.Helper()
	before := s.foreignPod("kettle-pod", change)
	o := s.start()
	s.create("kettle", "11:00:00")
	o.sleepsUntil("11:00:00")
	s.becomes("kettle", waiting)
	s.jump("11:00:00")
	s.becomes("kettle", blocked("PodNameTaken"))
	s.told("kettle", "Warning PodNameTaken")

	// However often it looks again, it does and tells nothing more.
	for range 5 {
		s.clock.Step(10 * time.Second)
		s.probe()
	}
	s.told("kettle", "Warning PodNameTaken")
	now := s.pod("kettle-pod")
	assert.Equal(s.t, before.UID, now.UID)
	assert.Equal(s.t, before.ResourceVersion, now.ResourceVersion, "somebody has touched the pod")
	assert.Equal(s.t, blocked("PodNameTaken"), words(s.get("kettle")))

	s.deletePod("kettle-pod")
	s.step = time.Second
	s.becomes("kettle", running)
	assert.NotEqual(s.t, before.UID, s.pod("kettle-pod").UID)
	s.told("kettle", "Normal Started", "Warning PodNameTaken")
	s.ends("kettle-pod", 0)
	s.becomes("kettle", succeeded)
}

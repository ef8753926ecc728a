package behaviour

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

var life = map[string]func(*env){
	"the status shows how a command comes to a good end": func(s *env) {
		s.step = still
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		s.becomes("kettle", waiting)
		s.jump("10:59:59")
		s.settle()
		s.ran()
		s.jump("11:00:00")
		s.runs("kettle")
		s.jump("11:30:02")
		s.ends("kettle", 0)
		s.becomes("kettle", succeeded)
		status := s.get("kettle").Status
		assert.Equal(s.t, "kettle-pod", status.PodName)
		assert.Equal(s.t, new(int32(0)), status.ExitCode)
		assert.WithinDuration(s.t, moment("11:00:00"), status.StartTime.Time, 0)
		assert.WithinDuration(s.t, moment("11:30:00"), status.CompletionTime.Time, 0, "as the kubelet reported")
		s.recorded("kettle", "Normal Started", "Normal Succeeded")
	},

	"what is due already runs at once": func(s *env) {
		s.step = still
		s.create("before", "09:00:00") // before the operator is there
		s.start()
		s.runs("before")
		s.create("now", "10:00:00")
		s.runs("now")
	},

	"the pod runs the command in a shell, and is restricted": func(s *env) {
		s.start()
		s.create("kettle", "09:00:00", func(at *cnat.At) { at.Spec.Command = `echo "two  words" | tr a-z A-Z; echo $HOME $$` })
		want := []string{"sh", "-c", `echo "two  words" | tr a-z A-Z; echo $$HOME $$$$`}
		assert.Equal(s.t, want, s.pod("kettle").Spec.Containers[0].Command, "the kubelet makes one $ of two")

		// The server has judged: it refuses any other pod here.
		_, err := s.pods.Create(s.t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "unrestricted"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}},
		}, metav1.CreateOptions{})
		require.True(s.t, apierrors.IsForbidden(err), "%v", err)
	},

	"two operators at once": func(s *env) {
		two := func(o *operator) { o.workers = 2 }
		one, other := s.start(two), s.start(two)
		var names []string
		for i := range 10 {
			names = append(names, fmt.Sprintf("kettle-%d", i))
			s.create(names[i], "11:00:00")
		}
		one.sleepsUntil("11:00:00")
		other.sleepsUntil("11:00:00")
		for _, name := range names {
			s.becomes(name, waiting)
		}
		s.jump("11:00:00")
		for _, name := range names {
			s.runs(name)
			s.ends(name, 0)
			s.becomes(name, succeeded)
			s.recorded(name, "Normal Started", "Normal Succeeded")
		}
		s.ran(names...)
	},

	"two workers work at the same time": func(s *env) {
		var create *testcluster.Gate
		s.start(func(o *operator) { o.workers, create = 2, o.gate("create pods") })
		create.Shut()
		s.create("one", "09:00:00")
		s.create("two", "09:00:00")
		s.eventually("two pods to be created at once", func(context.Context) (any, bool) { return create.Holding(), create.Holding() == 2 })
		create.Open()
		s.runs("one")
		s.runs("two")
	},

	"a pod of somebody else is left alone": func(s *env) {
		before := s.foreignPod("kettle")
		s.start()
		s.create("kettle", "09:00:00")
		s.becomes("kettle", taken)
		for range 3 { // it tries again
			s.clock.Step(10 * time.Second)
			s.settle()
		}
		s.recorded("kettle", "Warning PodNameTaken")
		assert.Equal(s.t, before.ResourceVersion, s.pod("kettle").ResourceVersion, "somebody has touched the pod")
	},

	"a pod that is orphaned while no operator is there is let go": func(s *env) {
		o := s.start()
		s.create("kettle", "09:00:00")
		s.pod("kettle")
		o.stop()
		s.patchPod("kettle", `{"metadata":{"ownerReferences":null}}`) // kubectl delete --cascade=orphan
		s.delete("kettle")
		s.start()
		s.released("kettle")
		s.ran("kettle")
		s.pod("kettle")
	},

	"a pod that loses the label of the operator is followed once that is back": func(s *env) {
		s.start()
		s.create("kettle", "09:00:00")
		s.runs("kettle")
		unlabel := `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`
		s.patchPod("kettle", unlabel)
		s.becomes("kettle", lost)
		s.ends("kettle", 0) // which the operator cannot see
		s.settle()
		assert.Equal(s.t, lost, words(s.get("kettle")))
		s.recorded("kettle", "Normal Started", "Warning PodLabelRemoved")
		s.patchPod("kettle", `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"cnat"}}}`)
		s.becomes("kettle", succeeded)
		s.released("kettle")

		// It is let go without the label, too, when its At is deleted.
		s.create("pot", "09:00:00")
		s.runs("pot")
		s.patchPod("pot", unlabel)
		s.becomes("pot", lost)
		s.delete("pot")
		s.deletePod("pot") // which the garbage collector would do
		s.gone("pot")
		s.ran("kettle", "pot")
	},
}

// outage kills the server in the moment that an At is due. No other case can run beside it.
func outage(s *env) {
	proxy, config := testcluster.StartProxy(s.t, s.suite.config)
	o := s.start(func(o *operator) { o.config = config })
	s.create("kettle", "11:00:00")
	o.sleepsUntil("11:00:00")
	o.forget()
	proxy.Refuse()
	s.suite.cluster.KillServer(s.t)
	s.jump("11:00:00")
	s.eventually("attempts to write the status", func(context.Context) (any, bool) {
		attempts := o.about("kettle")
		return attempts, len(attempts) > 1
	})
	proxy.Allow()
	s.runs("kettle")
	s.ends("kettle", 0)
	s.becomes("kettle", succeeded)
	s.ran("kettle")
}

// tries are how often the server was to create the pod of an At.
func (o *operator) tries(at string) int {
	return len(slices.DeleteFunc(o.about(at), func(what string) bool { return what != "create pods" }))
}

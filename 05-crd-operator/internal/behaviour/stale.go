package behaviour

import (
	"net/http"
	"sync/atomic"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// The caches of pods and of Ats are filled by two watches, and either may be stale.
// What the server has counts: an At that was deleted or postponed, or that is over,
// never starts.
var stale = map[string]testCase{
	"the cache of pods is stale": func(s *env) {
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		o.pods.shut()
		s.jump("11:00:00")
		s.pod("kettle-pod")
		// It reconciles again, twice, and there is no pod in its cache.
		s.patch("kettle", `{"spec":{"startingDeadlineSeconds":100}}`)
		s.patch("kettle", `{"spec":{"startingDeadlineSeconds":200}}`)
		s.barrier()
		assert.Equal(s.t, running, words(s.get("kettle")))
		s.ends("kettle-pod", 0)
		o.pods.release()
		s.becomes("kettle", succeeded)
		s.ran("kettle")
		s.recorded("kettle", "Normal Started", "Normal Succeeded")
	},

	"the cache of pods is stale, and it is too late to start": func(s *env) {
		o := s.start()
		s.create("kettle", "11:00:00", deadline(10))
		o.sleepsUntil("11:00:00")
		o.pods.shut()
		s.jump("11:00:00")
		s.pod("kettle-pod")
		s.jump("11:00:20")
		s.patch("kettle", `{"spec":{"startingDeadlineSeconds":11}}`)
		s.eventually("the operator to read the pod", o.hasMade("get pods", "kettle"))
		s.barrier()
		assert.Equal(s.t, running, words(s.get("kettle")))
		o.pods.release()
		s.ends("kettle-pod", 0)
		s.becomes("kettle", succeeded)
	},

	"the pod is deleted while the cache of pods is stale": func(s *env) {
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		o.pods.shut()
		s.jump("11:00:00")
		s.deletePod("kettle-pod")
		s.patch("kettle", `{"spec":{"startingDeadlineSeconds":100}}`)
		s.barrier()
		o.pods.release()
		s.becomes("kettle", failed("PodDeleted"))
		s.gone("kettle-pod")
		s.probe()
		s.ran("kettle")
	},

	// The server answers 422 to a patch of another UID, and not 409.
	"another pod has the name while the cache of pods is stale": func(s *env) {
		var errors atomic.Int32
		o := s.start(withErrors(func(text string) { s.t.Log(text); errors.Add(1) }))
		s.create("kettle", "09:00:00")
		s.runs("kettle")
		s.probe() // the pod is in its cache
		o.pods.shut()
		s.patchPod("kettle-pod", `{"metadata":{"finalizers":null}}`)
		s.deletePod("kettle-pod")
		s.gone("kettle-pod")
		s.foreignPod("kettle-pod")
		s.delete("kettle")
		s.eventually("the operator to try", o.hasMade("write pods", "kettle"))
		assert.True(s.t, o.requests.answered("write pods", http.StatusUnprocessableEntity))
		s.barrier()
		o.pods.release()
		s.probe()
		assert.Zero(s.t, errors.Load(), "it is no error that a cache is stale")
	},

	"the cache of Ats is stale": func(s *env) {
		o := s.beforeRUNNING()
		s.jump("11:00:00")
		s.becomes("kettle", running)
		o.ats.release()
		s.ends("kettle-pod", 0)
		s.becomes("kettle", succeeded)
		s.probe()
		s.ran("kettle")
		s.recorded("kettle", "Normal Started", "Normal Succeeded")
	},

	"an At is deleted before RUNNING, and the cache is stale": func(s *env) {
		o := s.beforeRUNNING()
		s.delete("kettle")
		s.jump("11:00:00")
		s.eventually("the operator to try", o.hasMade("write ats/status", "kettle"))
		o.ats.release()
		s.probe()
		s.ran()
	},

	"an At is postponed before RUNNING, and the cache is stale": func(s *env) {
		o := s.beforeRUNNING()
		s.reschedule("kettle", "12:00:00")
		s.jump("11:00:00")
		s.eventually("the operator to try", o.hasMade("write ats/status", "kettle"))
		assert.Equal(s.t, waiting, words(s.get("kettle")))
		o.ats.release()
		o.sleepsUntil("12:00:00")
		s.probe()
		s.ran()
		s.jump("12:00:00")
		s.runs("kettle")
		s.pod("kettle-pod")
		s.ran("kettle")
	},

	"another At of the same name comes before RUNNING, and the cache is stale": func(s *env) {
		o := s.beforeRUNNING()
		s.delete("kettle")
		second := s.create("kettle", "12:00:00")
		s.jump("11:00:00")
		s.eventually("the operator to try", o.hasMade("write ats/status", "kettle"))
		o.ats.release()
		s.becomes("kettle", waiting)
		o.sleepsUntil("12:00:00")
		s.probe()
		s.ran()
		s.jump("12:00:00")
		s.podOf(second)
		s.ran("kettle")
	},

	"an At is deleted before the live read, and the cache is stale": func(s *env) {
		o, read := s.beforeTheLiveRead()
		s.delete("kettle")
		read.release()
		s.eventually("the operator to read the At", o.hasMade("get ats", "kettle"))
		o.ats.release()
		s.probe()
		s.ran()
	},

	"an At is being deleted before the live read, and the cache is stale": func(s *env) {
		o, read := s.beforeTheLiveRead()
		s.patch("kettle", `{"metadata":{"finalizers":["foregroundDeletion"]}}`)
		s.delete("kettle")
		read.release()
		s.eventually("the operator to read the At", o.hasMade("get ats", "kettle"))
		o.ats.release()
		s.probe()
		s.ran()
	},

	"an At is finished before the live read, and the cache is stale": func(s *env) {
		o, read := s.beforeTheLiveRead()
		s.patch("kettle", `{"status":{"phase":"DONE"}}`, "status")
		read.release()
		s.eventually("the operator to read the At", o.hasMade("get ats", "kettle"))
		o.ats.release()
		s.probe()
		s.ran()
	},

	"another At of the same name comes before the live read, and the cache is stale": func(s *env) {
		o, read := s.beforeTheLiveRead()
		s.delete("kettle")
		second := s.create("kettle", "12:00:00")
		read.release()
		s.becomes("kettle", waiting) // it works on what it has read
		s.ran()
		o.ats.release()
		s.probe()
		s.jump("12:00:00")
		s.podOf(second)
		s.ran("kettle")
	},

	"an operator that saw no more than RUNNING wakes up when all is over": func(s *env) {
		sleeper, read := s.beforeTheLiveRead()
		sleeper.pods.shut()
		s.start()
		s.ends("kettle-pod", 0)
		s.becomes("kettle", succeeded)
		s.deletePod("kettle-pod")
		s.gone("kettle-pod")
		read.release()
		s.eventually("the operator to read the At", sleeper.hasMade("get ats", "kettle"))
		sleeper.ats.release()
		sleeper.pods.release()
		s.probe()
		s.ran("kettle")
	},

	"an operator that saw no more than PENDING wakes up when all is over": func(s *env) {
		write := newGate(s.t, "write ats/status")
		sleeper := s.beforeRUNNING(withFault(write.roundTrip))
		sleeper.pods.shut()
		write.shut()
		s.start()
		s.jump("11:00:00")
		s.ends("kettle-pod", 0)
		s.becomes("kettle", succeeded)
		s.deletePod("kettle-pod")
		s.gone("kettle-pod")
		write.release()
		s.eventually("the operator to try", sleeper.hasMade("write ats/status", "kettle"))
		sleeper.ats.release()
		sleeper.pods.release()
		s.probe()
		s.ran("kettle")
	},

	// The one window that is left.
	"an At that is deleted after the live read gets its pod, and lets it go": func(s *env) {
		create := newGate(s.t, "create pods")
		o := s.start(withFault(create.roundTrip))
		create.shut()
		s.create("kettle", "09:00:00")
		s.eventually("the operator to read the At", o.hasMade("get ats", "kettle"))
		create.held(s)
		s.delete("kettle")
		create.release()
		s.released("kettle-pod")
		s.ran("kettle")
	},

	"the pod of an At that the cache does not show is not let go": func(s *env) {
		o := s.start()
		s.create("anchor", "23:00:00")
		s.becomes("anchor", waiting)
		o.ats.shut()
		other := s.start()
		s.create("kettle", "09:00:00")
		s.pod("kettle-pod")
		s.eventually("the operator to read the At", o.hasMade("get ats", "kettle"))
		o.requests.reset()
		s.patchPod("kettle-pod", `{"metadata":{"annotations":{"note":"1"}}}`)
		s.eventually("the operator to read the At again", o.hasMade("get ats", "kettle"))
		other.stop()
		assert.Contains(s.t, s.pod("kettle-pod").Finalizers, lifecycle.Finalizer)
		s.deletePod("kettle-pod")
		s.pod("kettle-pod")
		o.ats.release()
		s.becomes("kettle", failed("PodDeleted"))
		s.ran("kettle")
	},
}

// beforeRUNNING starts an operator that waits for 11:00:00 to start kettle. Its cache
// of Ats is stale from then on.
func (s *env) beforeRUNNING(how ...with) *operator {
	s.t.Helper()
	o := s.start(how...)
	s.create("kettle", "11:00:00")
	o.sleepsUntil("11:00:00")
	s.barrier() // the cache knows what was written
	o.requests.reset()
	o.ats.shut()
	return o
}

// beforeTheLiveRead starts an operator that has written RUNNING, and is about to read
// kettle. Its cache of Ats is stale from then on.
func (s *env) beforeTheLiveRead() (o *operator, read *gate) {
	s.t.Helper()
	read = newGate(s.t, "get ats")
	o = s.start(withFault(read.roundTrip))
	read.shut()
	s.create("kettle", "11:00:00")
	o.sleepsUntil("11:00:00")
	s.jump("11:00:00")
	s.becomes("kettle", running)
	read.held(s)
	o.ats.shut()
	return o, read
}

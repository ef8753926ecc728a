package behaviour

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/testcluster"
)

// The caches of pods and of Ats are filled by two watches, and either may be stale. What the server
// has counts: an At that was deleted or postponed, or that is over, never starts.
var stale = map[string]func(*env){
	"the cache of pods is stale": func(s *env) {
		_, pods := s.beforeThePodIsSeen()
		// It reconciles again, twice, and there is no pod in its cache.
		s.patch("kettle", `{"spec":{"startingDeadlineSeconds":100}}`)
		s.patch("kettle", `{"spec":{"startingDeadlineSeconds":200}}`)
		s.fence()
		assert.Equal(s.t, running, words(s.get("kettle")))
		s.ends("kettle", 0)
		pods.Open()
		s.becomes("kettle", succeeded)
		s.ran("kettle")
		s.recorded("kettle", "Normal Started", "Normal Succeeded")
	},

	"the cache of pods is stale, and it is too late to start": func(s *env) {
		o, pods := s.beforeThePodIsSeen()
		s.jump("11:00:20")
		s.patch("kettle", `{"spec":{"startingDeadlineSeconds":11}}`)
		o.makes("get pods", "kettle")
		s.fence()
		assert.Equal(s.t, running, words(s.get("kettle")))
		pods.Open()
		s.ends("kettle", 0)
		s.becomes("kettle", succeeded)
	},

	// The server answers 422 to a patch of another UID, and not 409.
	"another pod has the name while the cache of pods is stale": func(s *env) {
		var errors atomic.Int32
		var pods *testcluster.Gate
		o := s.start(func(o *operator) {
			pods = o.gate("watch pods")
			o.log = funcr.New(func(_, text string) {
				if strings.Contains(text, `"error"=`) {
					s.t.Log(text)
					errors.Add(1)
				}
			}, funcr.Options{})
		})
		s.create("kettle", "09:00:00")
		s.runs("kettle")
		s.settle() // the pod is in its cache
		pods.Shut()
		s.patchPod("kettle", `{"metadata":{"finalizers":null}}`)
		s.deletePod("kettle")
		s.gone("kettle")
		s.foreignPod("kettle")
		s.delete("kettle")
		o.makes("write pods", "kettle")
		assert.Contains(s.t, o.all(), request{"write pods", "kettle", http.StatusUnprocessableEntity})
		s.fence()
		pods.Open()
		s.settle()
		assert.Zero(s.t, errors.Load(), "it is no error that a cache is stale")
	},

	"an At is deleted before RUNNING, and the cache is stale": beforeRUNNING(func(s *env) { s.delete("kettle") }),

	"an At is postponed before RUNNING, and the cache is stale": beforeRUNNING(func(s *env) {
		s.patch("kettle", `{"spec":{"schedule":"`+day+`T12:00:00Z"}}`)
	}, "kettle"),

	"another At of the same name comes before RUNNING, and the cache is stale": beforeRUNNING(func(s *env) {
		s.delete("kettle")
		s.create("kettle", "12:00:00")
	}, "kettle"),

	"an At is deleted before the live read, and the cache is stale": beforeTheLiveRead(func(s *env) { s.delete("kettle") }),

	"an At is being deleted before the live read, and the cache is stale": beforeTheLiveRead(func(s *env) {
		s.patch("kettle", `{"metadata":{"finalizers":["foregroundDeletion"]}}`)
		s.delete("kettle")
	}),

	"an At is finished before the live read, and the cache is stale": beforeTheLiveRead(func(s *env) {
		s.patch("kettle", `{"status":{"phase":"DONE"}}`, "status")
	}),

	"another At of the same name comes before the live read, and the cache is stale": beforeTheLiveRead(func(s *env) {
		s.delete("kettle")
		s.create("kettle", "12:00:00")
	}, "kettle"),

	"an operator that saw no more than RUNNING wakes up when all is over": func(s *env) {
		sleeper, read, caches := s.aboutToRead()
		s.start()
		s.ends("kettle", 0)
		s.becomes("kettle", succeeded)
		s.deletePod("kettle")
		s.gone("kettle")
		read.Open()
		sleeper.makes("get ats", "kettle")
		caches.Open()
		s.settle()
		s.ran("kettle")
	},

	// The one window that is left.
	"an At that is deleted after the live read gets its pod, and lets it go": func(s *env) {
		var create *testcluster.Gate
		o := s.start(func(o *operator) { create = o.gate("create pods") })
		create.Shut()
		s.create("kettle", "09:00:00")
		s.eventually("the operator to create the pod", func(context.Context) (any, bool) { return nil, create.Holding() > 0 })
		s.delete("kettle")
		create.Open()
		o.makes("create pods", "kettle")
		s.released("kettle")
		s.ran("kettle")
	},

	"the pod of an At that the cache does not show is not let go": func(s *env) {
		var ats *testcluster.Gate
		o := s.start(func(o *operator) { ats = o.gate("watch ats") })
		s.fence()
		ats.Shut()
		other := s.start()
		s.create("kettle", "09:00:00")
		s.pod("kettle")
		o.makes("get ats", "kettle")
		o.forget()
		s.patchPod("kettle", `{"metadata":{"annotations":{"note":"1"}}}`)
		o.makes("get ats", "kettle")
		other.stop()
		assert.Contains(s.t, s.pod("kettle").Finalizers, lifecycle.Finalizer)
		s.deletePod("kettle")
		s.pod("kettle")
		ats.Open()
		s.becomes("kettle", deleted)
	},
}

// beforeThePodIsSeen starts an operator that has created the pod of kettle. Its cache of pods was
// stale by then.
func (s *env) beforeThePodIsSeen() (o *operator, pods *testcluster.Gate) {
	s.t.Helper()
	o = s.start(func(o *operator) { pods = o.gate("watch pods") })
	s.create("kettle", "11:00:00", func(at *cnat.At) { at.Spec.StartingDeadlineSeconds = new(int64(10)) })
	o.sleepsUntil("11:00:00")
	pods.Shut()
	s.jump("11:00:00")
	s.pod("kettle")
	return o, pods
}

// beforeRUNNING has something happen while the cache of Ats is stale, in which kettle is due at eleven. So
// nothing runs then, and at twelve these.
func beforeRUNNING(happens func(*env), atTwelve ...string) func(*env) {
	return func(s *env) {
		var ats *testcluster.Gate
		o := s.start(func(o *operator) { ats = o.gate("watch ats") })
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		s.fence() // the cache knows what was written
		o.forget()
		ats.Shut()
		happens(s)
		s.jump("11:00:00")
		o.makes("write ats/status", "kettle")
		ats.Open()
		s.runAtTwelve(atTwelve)
	}
}

// beforeTheLiveRead has something happen when the operator has written RUNNING, and is about to read kettle.
// So nothing runs, and at twelve these.
func beforeTheLiveRead(happens func(*env), atTwelve ...string) func(*env) {
	return func(s *env) {
		o, read, caches := s.aboutToRead()
		happens(s)
		read.Open()
		o.makes("get ats", "kettle")
		caches.Open()
		s.runAtTwelve(atTwelve)
	}
}

// aboutToRead starts an operator that has written RUNNING, and is about to read kettle. Its caches are
// stale from then on.
func (s *env) aboutToRead() (o *operator, read, caches *testcluster.Gate) {
	s.t.Helper()
	o = s.start(func(o *operator) { read, caches = o.gate("get ats"), o.gate("watch ats", "watch pods") })
	read.Shut()
	s.create("kettle", "11:00:00")
	o.sleepsUntil("11:00:00")
	s.jump("11:00:00")
	s.becomes("kettle", running)
	s.eventually("the operator to read the At", func(context.Context) (any, bool) { return nil, read.Holding() > 0 })
	caches.Shut()
	return o, read, caches
}

func (s *env) runAtTwelve(names []string) {
	s.t.Helper()
	s.settle()
	s.ran()
	s.jump("12:00:00")
	for _, name := range names {
		s.runs(name)
	}
	s.settle()
	s.ran(names...)
}

package behaviour

import "github.com/stretchr/testify/assert"

// The caches of pods and of Ats are filled by two watches, and either may be
// behind.
var stale = map[string]story{
	"the cache of pods is behind": func(s *scene) {
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		o.pods.shut()
		s.jump("11:00:00")
		s.pod("kettle-pod")
		// It comes to look again, twice, and sees no pod in its cache.
		s.patch("kettle", `{"spec":{"startingDeadlineSeconds":100}}`)
		s.becomes("kettle", running)
		s.patch("kettle", `{"spec":{"startingDeadlineSeconds":200}}`)
		s.barrier()
		assert.Equal(s.t, running, words(s.get("kettle")))
		s.ends("kettle-pod", 0)
		o.pods.release()
		s.becomes("kettle", succeeded)
		s.ran("kettle")
		s.told("kettle", "Normal Started", "Normal Succeeded")
	},

	"the cache of Ats is behind": func(s *scene) {
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		o.ats.shut()
		s.jump("11:00:00")
		s.becomes("kettle", running)
		s.patchPod("kettle-pod", `{"metadata":{"labels":{"colour":"green"}}}`)
		s.ends("kettle-pod", 0)
		o.ats.release()
		s.becomes("kettle", succeeded)
		s.probe()
		s.ran("kettle")
		s.told("kettle", "Normal Started", "Normal Succeeded")
	},

	"the pod is deleted while the cache of Ats is behind": func(s *scene) {
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		o.ats.shut()
		s.jump("11:00:00")
		s.becomes("kettle", running)
		o.requests.reset()
		s.deletePod("kettle-pod")
		// The At in its cache waits, and no pod is there.
		s.eventually("the operator to look for the pod", o.hasMade("get pods"))
		o.ats.release()
		s.becomes("kettle", failed("PodDeleted"))
		s.probe()
		s.ran("kettle")
	},

	"the pod is deleted while both caches are behind": func(s *scene) {
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		o.ats.shut()
		o.pods.shut()
		s.jump("11:00:00")
		s.pod("kettle-pod")
		s.deletePod("kettle-pod")
		o.ats.release()
		o.pods.release()
		s.becomes("kettle", failed("PodDeleted"))
		s.probe()
		s.ran("kettle")
	},

	"another At of the same name comes while the cache of Ats is behind": func(s *scene) {
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		o.ats.shut()
		s.delete("kettle")
		s.create("kettle", "12:00:00")
		s.jump("11:00:00")
		s.pod("kettle-pod") // the pod of an At that is gone
		o.ats.release()
		s.becomes("kettle", waiting)
		s.deletePod("kettle-pod") // the garbage collector
		o.sleepsUntil("12:00:00")
		s.jump("12:00:00")
		s.becomes("kettle", running)
		s.ran("kettle", "kettle")
	},
}

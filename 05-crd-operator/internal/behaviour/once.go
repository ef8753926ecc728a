package behaviour

import (
	"context"
	"fmt"

	"github.com/stretchr/testify/assert"
)

var once = map[string]story{
	"two workers": func(s *scene) { s.crowd(s.start(workers(2))) },

	"two operators at once": func(s *scene) {
		s.crowd(s.start(workers(2)), s.start(workers(2)))
	},

	"a pod deleted by hand is not run again": func(s *scene) {
		s.start()
		s.create("kettle", "09:00:00")
		s.becomes("kettle", running)
		s.deletePod("kettle-pod")
		s.becomes("kettle", failed("PodDeleted"))
		s.probe()
		s.ran("kettle")
		s.told("kettle", "Normal Started", "Warning PodDeleted")
		assert.Nil(s.t, s.get("kettle").Status.ExitCode)
		assert.NotNil(s.t, s.get("kettle").Status.StartTime)
	},

	"a pod deleted by hand while no operator is there is not run again": func(s *scene) {
		o := s.start()
		s.create("kettle", "09:00:00")
		s.becomes("kettle", running)
		o.stop()
		s.deletePod("kettle-pod")
		s.start()
		s.becomes("kettle", failed("PodDeleted"))
		s.probe()
		s.ran("kettle")
	},

	"a pod deleted by hand before RUNNING could be written is not run again": func(s *scene) {
		status := &refusal{such: "write ats/status"}
		o := s.start(suffering(status.pass))
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		status.set(true)
		s.jump("11:00:00")
		s.pod("kettle-pod")
		s.eventually("an attempt to write RUNNING", func(context.Context) (any, bool) { return nil, status.refused() > 0 })
		s.deletePod("kettle-pod")
		status.set(false)
		s.becomes("kettle", failed("PodDeleted"))
		s.probe()
		s.ran("kettle")
	},

	"a pod replaced by hand is not taken for the old one": func(s *scene) {
		s.start()
		s.create("kettle", "09:00:00")
		s.becomes("kettle", running)
		s.deletePod("kettle-pod")
		s.foreignPod("kettle-pod")
		s.becomes("kettle", failed("PodDeleted"))
		s.ends("kettle-pod", 0)
		s.probe()
		assert.Equal(s.t, failed("PodDeleted"), words(s.get("kettle")))
	},

	"what is done stays done when its pod is deleted": func(s *scene) {
		o := s.start()
		s.create("kettle", "09:00:00")
		s.becomes("kettle", running)
		s.ends("kettle-pod", 0)
		s.becomes("kettle", succeeded)
		s.told("kettle", "Normal Started", "Normal Succeeded")
		s.deletePod("kettle-pod")
		s.probe()
		o.stop()
		s.start()
		s.probe()
		assert.Equal(s.t, succeeded, words(s.get("kettle")))
		s.ran("kettle")
	},
}

// crowd has many Ats that are due at the same moment, and all end well.
func (s *scene) crowd(operators ...*operator) {
	s.t.Helper()
	var names []string
	for i := range 10 {
		name := fmt.Sprintf("kettle-%d", i)
		names = append(names, name)
		s.create(name, "11:00:00")
		s.becomes(name, waiting)
	}
	for _, o := range operators {
		o.sleepsUntil("11:00:00")
	}
	s.jump("11:00:00")
	for _, name := range names {
		s.becomes(name, running)
		s.ends(name+"-pod", 0)
	}
	for _, name := range names {
		s.becomes(name, succeeded)
		s.told(name, "Normal Started", "Normal Succeeded")
	}
	s.probe()
	s.ran(names...)
}

package behaviour

import (
	"github.com/stretchr/testify/assert"
)

var when = map[string]testCase{
	"it waits until the schedule, to the second": func(s *env) {
		s.step = still
		o := s.start()
		s.create("exactly", "11:00:00")
		o.sleepsUntil("11:00:00")
		s.create("moment", "10:59:59.999999999")
		o.sleepsUntil("10:59:59.999999999")
		s.create("second", "10:59:59")
		o.sleepsUntil("10:59:59")
		s.becomes("second", waiting)

		s.jump("10:59:58")
		s.probe()
		s.ran()

		s.jump("10:59:59")
		s.runs("second")
		o.sleepsUntil("10:59:59.999999999")
		s.probe()
		s.ran("second")

		s.jump("10:59:59.999999999")
		s.runs("moment")
		o.sleepsUntil("11:00:00")
		s.probe()
		s.ran("second", "moment")
		assert.Equal(s.t, waiting, words(s.get("exactly")))

		s.jump("11:00:00")
		s.runs("exactly")
	},

	"what is due already runs at once": func(s *env) {
		s.step = still
		s.create("before", "09:00:00") // before the operator is there
		s.start()
		s.runs("before")
		s.create("long-ago", "00:00:00", written("1969-12-31T23:59:59Z"))
		s.runs("long-ago")
		s.create("now", morning)
		s.runs("now")
	},

	"a schedule may be changed while it waits": func(s *env) {
		s.step = still
		o := s.start()
		s.create("later", "11:00:00")
		o.sleepsUntil("11:00:00")
		s.create("sooner", "10:50:00")
		o.sleepsUntil("10:50:00")
		s.reschedule("sooner", "10:40:00")
		o.sleepsUntil("10:40:00")
		s.reschedule("later", "12:00:00")
		s.probe()

		s.jump("10:40:00")
		s.runs("sooner")
		s.jump("11:00:00")
		o.sleepsUntil("12:00:00")
		s.probe()
		s.ran("sooner")
		assert.Equal(s.t, waiting, words(s.get("later")))
		s.jump("12:00:00")
		s.runs("later")
	},

	"what was deleted before its time does not run": func(s *env) {
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		s.delete("kettle")
		s.probe() // its cache knows
		s.jump("11:00:01")
		s.probe()
		s.ran()
	},
}

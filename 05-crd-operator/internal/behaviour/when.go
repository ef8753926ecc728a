package behaviour

import (
	"time"

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

	"the clock may jump forward, back and forward again": func(s *env) {
		s.step = still
		o := s.start()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		for _, clock := range []string{"10:58:00", "08:00:00", "10:59:59", "03:00:00", "10:59:59"} {
			s.jump(clock)
			s.probe()
			s.ran()
		}
		s.jump("11:00:00")
		s.runs("kettle")
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

	"a schedule is in the zone that it says": func(s *env) {
		s.step = still
		zones := map[string]string{
			"berlin":  day + "T13:00:00+02:00",
			"caracas": day + "T06:30:00-04:30",
			"apia":    "2019-04-13T01:00:00+14:00",
			"small":   day + "t11:00:00z",
		}
		o := s.start()
		for name, schedule := range zones {
			s.create(name, morning, written(schedule))
			s.becomes(name, waiting)
		}
		o.sleepsUntil("11:00:00")
		s.jump("10:59:59")
		s.probe()
		s.ran()
		// Which of them is asleep the queue does not show. Time may pass for the last.
		s.step = little
		s.jump("11:00:00")
		for name := range zones {
			s.runs(name)
		}
		s.ran("berlin", "caracas", "apia", "small")
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

	"what could not be started in time never runs": func(s *env) {
		s.step = still
		s.create("late", "10:00:00", deadline(10))
		s.create("just-in-time", "10:00:00.000000001", deadline(10)) // of whole seconds
		s.create("whenever", "09:00:00")
		s.jump("10:00:11")
		s.start()
		s.becomes("late", missed)
		s.runs("just-in-time")
		s.runs("whenever")
		s.recorded("late", "Warning StartingDeadlineExceeded")

		s.clock.Step(24 * time.Hour)
		s.probe()
		s.ran("just-in-time", "whenever")
		late := s.get("late").Status
		assert.Empty(s.t, late.PodName)
		assert.Nil(s.t, late.StartTime)
	},

	"an operator with time to spare keeps a deadline of no seconds": func(s *env) {
		s.step = still
		o := s.start()
		s.create("kettle", "11:00:00", deadline(0))
		o.sleepsUntil("11:00:00")
		s.jump("11:00:00")
		s.runs("kettle")
	},
}

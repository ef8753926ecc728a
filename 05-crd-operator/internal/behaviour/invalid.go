package behaviour

import (
	"time"

	"github.com/stretchr/testify/assert"
)

// invalid are cases of schedules that are none. The present schema refuses them, so
// they run with an older one.
var invalid = map[string]testCase{
	"words":                       func(s *env) { s.isNoTime("tomorrow at noon") },
	"a time without a zone":       func(s *env) { s.isNoTime("2019-04-12T10:12:00") },
	"a date that does not exist":  func(s *env) { s.isNoTime("2019-02-30T10:12:00Z") },
	"nothing":                     func(s *env) { s.isNoTime("") },
	"a time with an invalid zone": func(s *env) { s.isNoTime("2019-04-12T10:12:00+1") },
}

// isNoTime: the schedule is reported once, costs nothing, and can be corrected.
func (s *env) isNoTime(schedule string) {
	s.t.Helper()
	o := s.start()
	s.create("kettle", "00:00:00", written(schedule))
	s.becomes("kettle", blocked("InvalidSchedule"))
	s.generation("kettle", 1)
	s.recorded("kettle", "Warning InvalidSchedule")
	s.probe()

	// Nothing more comes of it, however long it takes, while others are served.
	o.requests.reset()
	for range 5 {
		s.clock.Step(time.Hour)
		s.probe()
	}
	assert.Empty(s.t, o.requests.about("kettle"))

	// Nor does another operator report anything.
	o.stop()
	o = s.start()
	s.probe()
	assert.Empty(s.t, o.requests.about("kettle"))
	s.recorded("kettle", "Warning InvalidSchedule")
	s.ran()

	s.reschedule("kettle", "18:00:00")
	s.becomes("kettle", waiting)
	s.generation("kettle", 2)
	o.sleepsUntil("18:00:00")
	s.jump("18:00:00")
	s.runs("kettle")
	s.ran("kettle")
}

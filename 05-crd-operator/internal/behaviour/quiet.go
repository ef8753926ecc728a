package behaviour

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var quiet = map[string]testCase{
	"an At costs five writes and one read": func(s *env) {
		o := s.start()
		s.probe()
		o.requests.reset()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		s.probe() // its cache has PENDING by now; from a stale one it would try that again, and be refused
		s.jump("11:00:00")
		s.runs("kettle")
		s.probe()
		s.ends("kettle-pod", 0)
		s.becomes("kettle", succeeded)
		s.recorded("kettle", "Normal Started", "Normal Succeeded")
		s.probe()
		made := o.requests.about("kettle")
		isEvent := func(what string) bool { return strings.HasSuffix(what, " events") }
		assert.Equal(s.t, []string{
			"write ats/status", // PENDING
			"write ats/status", // RUNNING
			"get ats",
			"create pods",
			"write ats/status", // DONE
			"write pods",       // the finalizer
		}, slices.DeleteFunc(slices.Clone(made), isEvent))
		assert.Equal(s.t, []string{"create events", "create events"},
			slices.DeleteFunc(slices.Clone(made), func(what string) bool { return !isEvent(what) }))
		for _, r := range o.requests.all() {
			assert.NotRegexp(s.t, "^(list|GET|get pods)", r.what, "after the start")
		}
	},

	"a change that changes nothing costs no request": func(s *env) {
		o := s.start()
		inEveryPhase(s, o)
		for i, name := range []string{"anchor", "beacon", "candle"} {
			s.patch(name, fmt.Sprintf(`{"metadata":{"labels":{"colour":"%d"},"annotations":{"note":"%d"}}}`, i, i))
		}
		s.patch("anchor", `{"spec":{"command":"echo NO"}}`) // generation 2, and so one write
		s.becomes("anchor", waiting)
		for _, name := range []string{"beacon", "candle"} {
			s.patchPod(name+"-pod", `{"metadata":{"annotations":{"note":"1"}}}`)
		}
		s.patchPod("beacon-pod", `{"status":{"phase":"Running"}}`, "status")
		s.generation("anchor", 2)
		s.probe()
		assert.Equal(s.t, []string{"write ats/status"}, o.requests.about("anchor"))
		assert.Empty(s.t, o.requests.about("beacon"))
		assert.Empty(s.t, o.requests.about("candle"))
	},

	"a change of a status gives no work": func(s *env) {
		s.step = still
		o := s.start()
		inEveryPhase(s, o)
		const changes = 50
		before := o.clock.reads.Load()
		for i := range changes {
			for _, name := range []string{"anchor", "beacon", "candle"} {
				s.patch(name, fmt.Sprintf(`{"status":{"conditions":[{"type":"Noted","status":"True","reason":"N%d","message":"","lastTransitionTime":%q}]}}`, i, finished), "status")
			}
		}
		s.probe()
		const busy = "it has reconciled what is none of its business"
		assert.Less(s.t, o.clock.reads.Load()-before, int64(changes), busy)
		for _, name := range []string{"anchor", "beacon", "candle"} {
			assert.Empty(s.t, o.requests.about(name), busy)
		}
	},

	"while nothing is due, nothing is requested": func(s *env) {
		o := s.start()
		inEveryPhase(s, o)
		for range 24 {
			s.clock.Step(time.Minute)
		}
		s.probe()
		for _, name := range []string{"anchor", "beacon", "candle"} {
			assert.Empty(s.t, o.requests.about(name))
		}
	},

	"a restart writes nothing and reads only lists": func(s *env) {
		o := s.start()
		inEveryPhase(s, o)
		o.stop()
		o = s.start()
		o.sleepsUntil("23:00:00")
		s.probe()
		for _, name := range []string{"anchor", "beacon", "candle"} {
			assert.Empty(s.t, o.requests.about(name))
			events, err := s.events(s.t.Context(), s.get(name))
			require.NoError(s.t, err)
			assert.Equal(s.t, slices.Compact(slices.Clone(events)), events)
		}
	},

	"a namespace that is going is no reason to hurry": func(s *env) {
		o := s.start()
		s.create("other", "12:00:00")
		o.sleepsUntil("12:00:00")
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		require.NoError(s.t, s.client.CoreV1().Namespaces().Delete(s.t.Context(), s.namespace, metav1.DeleteOptions{}))
		s.step = still
		o.requests.reset()
		s.jump("11:00:00")
		refused := func() int {
			return len(slices.DeleteFunc(o.requests.about("kettle"), func(what string) bool { return what != "create pods" }))
		}
		s.eventually("the server to refuse the pod", func(context.Context) (any, bool) { return refused(), refused() > 0 })

		// It goes on with others. As long as no time passes, it has no reason to
		// think that the answer would be another one.
		for i := range 10 {
			s.reschedule("other", fmt.Sprintf("12:00:%02d", i+1))
			s.generation("other", int64(i+2))
		}
		assert.LessOrEqual(s.t, refused(), 2)

		// In an hour it may try again, but each time it waits longer.
		for range 360 {
			s.clock.Step(10 * time.Second)
		}
		s.reschedule("other", "13:00:00")
		s.generation("other", 12)
		assert.Less(s.t, refused(), 100)
	},
}

// inEveryPhase has an At in each phase, waits until all is quiet and forgets the
// requests that were made.
func inEveryPhase(s *env, o *operator) {
	s.t.Helper()
	s.create("anchor", "23:00:00")
	o.sleepsUntil("23:00:00")
	s.create("beacon", "09:00:00")
	s.create("candle", "09:00:00")
	s.runs("beacon")
	s.runs("candle")
	s.ends("candle-pod", 0)
	s.becomes("candle", succeeded)
	s.recorded("beacon", "Normal Started")
	s.recorded("candle", "Normal Started", "Normal Succeeded")
	s.probe()
	o.requests.reset()
}

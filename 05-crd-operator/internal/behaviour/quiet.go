package behaviour

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var quiet = map[string]func(*env){
	"an At costs five writes and one read": func(s *env) {
		o := s.start()
		s.settle()
		o.forget()
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		s.settle() // its cache has PENDING by now; from a stale one it would try that again, and be refused
		s.jump("11:00:00")
		s.runs("kettle")
		s.settle()
		s.ends("kettle", 0)
		s.becomes("kettle", succeeded)
		s.recorded("kettle", "Normal Started", "Normal Succeeded")
		s.settle()
		var made, events []string
		for _, what := range o.about("kettle") {
			if strings.HasSuffix(what, " events") {
				events = append(events, what)
			} else {
				made = append(made, what)
			}
		}
		assert.Equal(s.t, []string{
			"write ats/status", // PENDING
			"write ats/status", // RUNNING
			"get ats",
			"create pods",
			"write ats/status", // DONE
			"write pods",       // the finalizer
		}, made)
		assert.Equal(s.t, []string{"create events", "create events"}, events)
		for _, r := range o.all() {
			assert.NotRegexp(s.t, "^(list|GET|get pods)", r.what, "after the start")
		}
	},

	"a change that changes nothing costs no request, nor does time, nor a restart": func(s *env) {
		o := s.start()
		ats := inEveryPhase(s, o)
		for i, name := range ats {
			s.patch(name, fmt.Sprintf(`{"metadata":{"labels":{"colour":"%d"},"annotations":{"note":"%d"}}}`, i, i))
		}
		s.patchPod("beacon", `{"status":{"phase":"Running"}}`, "status")
		s.patchPod("candle", `{"metadata":{"annotations":{"note":"1"}}}`)
		for range 24 {
			s.clock.Step(time.Minute)
		}
		s.settle()
		o.stop()
		again := s.start()
		again.sleepsUntil("23:00:00")
		s.settle()
		for _, name := range ats {
			assert.Empty(s.t, o.about(name))
			assert.Empty(s.t, again.about(name), "after a restart")
		}
	},

	"a change of a status gives no work": func(s *env) {
		s.step = still
		o := s.start()
		ats := inEveryPhase(s, o)
		const changes = 50
		before := o.reads.Load()
		for i := range changes {
			for _, name := range ats {
				s.patch(name, fmt.Sprintf(`{"status":{"conditions":[{"type":"Noted","status":"True","reason":"N%d","message":"","lastTransitionTime":"%sT11:30:00Z"}]}}`, i, day), "status")
			}
		}
		s.settle()
		const busy = "it has reconciled what is none of its business"
		assert.Less(s.t, o.reads.Load()-before, int64(changes), busy)
		for _, name := range ats {
			assert.Empty(s.t, o.about(name), busy)
		}
	},

	// As long as no time passes, there is no reason to think that the answer would be another one.
	"a namespace that is going is no reason to hurry": func(s *env) {
		o := s.start()
		s.create("other", "12:00:00")
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		s.becomes("other", waiting)
		require.NoError(s.t, s.client.CoreV1().Namespaces().Delete(s.t.Context(), s.namespace, metav1.DeleteOptions{}))
		s.step = still
		s.jump("11:00:00")
		s.eventually("the server to refuse the pod", func(context.Context) (any, bool) { return o.about("kettle"), o.tries("kettle") > 0 })
		for i := range 10 {
			s.reschedule("other", fmt.Sprintf("12:00:%02d", i+1))
			s.eventually("the operator to go on with others", func(ctx context.Context) (any, bool) {
				at, err := s.ats.Get(ctx, "other", metav1.GetOptions{})
				return err, err == nil && at.Status.Conditions[0].ObservedGeneration == int64(i+2)
			})
		}
		assert.LessOrEqual(s.t, o.tries("kettle"), 2)
	},
}

// inEveryPhase has an At in each phase, waits until all is quiet and forgets the requests that
// were made.
func inEveryPhase(s *env, o *operator) (ats []string) {
	s.t.Helper()
	s.create("anchor", "23:00:00")
	o.sleepsUntil("23:00:00")
	s.create("beacon", "09:00:00")
	s.create("candle", "09:00:00")
	s.runs("beacon")
	s.ends("candle", 0)
	s.becomes("candle", succeeded)
	s.recorded("beacon", "Normal Started")
	s.recorded("candle", "Normal Started", "Normal Succeeded")
	s.settle()
	o.forget()
	return []string{"anchor", "beacon", "candle"}
}

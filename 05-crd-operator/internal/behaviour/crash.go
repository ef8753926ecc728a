package behaviour

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// crashes runs one case without a fault and counts the writes in it. Then it runs
// the case twice for each of them. This write reaches the server, and the answer
// does not come back. The first time the operator dies of that, and a new one
// takes over; the second time it lives on. The cluster must end in the same state,
// to the last label.
func crashes(t *testing.T, suite *suite) {
	var requests *ledger
	s, want := outcome(t, suite, func(s *env) { requests = s.start().requests })
	s.recorded("harbour", "Normal Started", "Normal Succeeded")
	s.recorded("storm", "Normal Started", "Warning CommandFailed")
	s.recorded("wreck", "Normal Started", "Warning PodDeleted")
	s.recorded("fog", "Warning StartingDeadlineExceeded")
	s.recorded("reef", "Warning PodNameTaken", "Normal Started")
	writes := requests.accepted()
	assert.Len(t, writes, 27, "these are not the writes that the comments of outcome count: %v", writes)

	for n, write := range writes {
		t.Run(fmt.Sprintf("the operator dies after write %d, to %s", n+1, write), func(t *testing.T) {
			t.Parallel()
			var deaths atomic.Int32
			_, got := outcome(t, suite, func(s *env) { s.startAgainAfter(n+1, &deaths) })
			assert.Equal(t, want, got)
			assert.EqualValues(t, 1, deaths.Load())
		})
		t.Run(fmt.Sprintf("the answer is lost to write %d, to %s", n+1, write), func(t *testing.T) {
			t.Parallel()
			var lost atomic.Int32
			_, got := outcome(t, suite, func(s *env) { s.start(withFault(loseAnswer(n+1, func() { lost.Add(1) }))) })
			assert.Equal(t, want, got)
			assert.EqualValues(t, 1, lost.Load())
		})
	}
}

// outcome runs the case, and returns what is in the cluster at the end.
func outcome(t *testing.T, suite *suite, start func(*env)) (s *env, end []string) {
	s = newEnv(t, suite)
	s.foreignPod("reef-pod")
	start(s)

	s.create("harbour", "11:00:00")
	s.becomes("harbour", waiting) // PENDING
	s.step = 5 * time.Minute
	s.runs("harbour") // RUNNING, a pod, an event
	s.step = little
	s.ends("harbour-pod", 0)
	s.becomes("harbour", succeeded) // DONE, an event, the finalizer
	s.released("harbour-pod")

	s.create("storm", "09:00:00")
	s.ends("storm-pod", 1)                      // RUNNING, a pod, an event
	s.becomes("storm", failed("CommandFailed")) // DONE, an event, the finalizer
	s.released("storm-pod")

	s.create("wreck", "09:00:00")
	s.deletePod("wreck-pod")                 // RUNNING, a pod, an event
	s.becomes("wreck", failed("PodDeleted")) // DONE, an event, the finalizer
	s.gone("wreck-pod")

	s.create("fog", "09:00:00", deadline(1))
	s.becomes("fog", missed) // DONE, an event

	s.create("reef", "09:00:00")
	s.becomes("reef", taken) // RUNNING, that the name is taken, an event
	s.deletePod("reef-pod")
	s.step = time.Second
	s.runs("reef") // a pod, an event, and that nothing is in the way

	s.step = little
	s.probe()
	s.ran("harbour", "storm", "wreck", "reef")
	return s, s.everything()
}

// nothingRunsTwice has the operator die after each write in the life of an At. Then
// its pod is deleted, while no operator is there to see it.
func nothingRunsTwice(t *testing.T, suite *suite) {
	life := []string{"PENDING", "RUNNING", "the pod", "the event Started", "DONE", "the event Succeeded", "the finalizer"}
	for n, write := range life {
		t.Run("the operator dies after "+write+", and the pod is deleted", func(t *testing.T) {
			t.Parallel()
			s := newEnv(t, suite)
			d := &dying{}
			dead := make(chan struct{})
			first := s.start(withFault(loseAnswer(n+1, func() { d.die(); close(dead) })), withFault(d.roundTrip))
			s.create("kettle", "11:00:00")
			const created = 3 // the third write is the pod
			if n > 0 {
				first.sleepsUntil("11:00:00")
				s.jump("11:00:00")
			}
			if n+1 > created+1 {
				s.ends("kettle-pod", 0)
			}
			s.eventually("the operator to die", func(context.Context) (any, bool) {
				select {
				case <-dead:
					return nil, true
				default:
					return first.requests.about(""), false
				}
			})
			first.stop()
			if n+1 >= created {
				s.deletePod("kettle-pod")
			}

			s.jump("11:00:00")
			s.start()
			switch {
			case n+1 < created:
				s.ends("kettle-pod", 0)
				s.becomes("kettle", succeeded)
			case n+1 <= created+1:
				s.becomes("kettle", failed("PodDeleted"))
			default:
				s.becomes("kettle", succeeded)
			}
			s.probe()
			if n+1 >= created {
				s.gone("kettle-pod")
			}
			s.ran("kettle")
		})
	}
}

// startAgainAfter starts an operator that dies after so many writes. Then another
// takes over.
func (s *env) startAgainAfter(writes int, deaths *atomic.Int32) {
	d := &dying{}
	dead := make(chan struct{})
	lost := func() {
		d.die()
		deaths.Add(1)
		close(dead)
	}
	first := s.start(withFault(loseAnswer(writes, lost)), withFault(d.roundTrip))
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-dead:
			first.stop()
			s.start()
		case <-s.t.Context().Done(): // the case is over
		}
	}()
	s.t.Cleanup(func() { <-done })
}

// everything is all Ats, and all pods that are there, without what differs from
// one run to the next. It also checks that no event was recorded twice.
func (s *env) everything() []string {
	s.t.Helper()
	ats, err := s.ats.List(s.t.Context(), metav1.ListOptions{})
	require.NoError(s.t, err)
	pods, err := s.client.CoreV1().Pods(s.namespace).List(s.t.Context(), metav1.ListOptions{})
	require.NoError(s.t, err)

	var all []string
	for _, at := range ats.Items {
		if isProbe(at.Name) {
			continue
		}
		events, err := s.events(s.t.Context(), &at)
		require.NoError(s.t, err)
		assert.Equal(s.t, slices.Compact(slices.Clone(events)), events, "events about %s", at.Name)
		all = append(all, inJSON(s, at.ObjectMeta, at.Spec, at.Status))
	}
	for _, pod := range pods.Items {
		if isProbe(pod.Name) {
			continue
		}
		all = append(all, inJSON(s, pod.ObjectMeta, pod.Spec, pod.Status))
	}
	slices.Sort(all)
	return all
}

var (
	instant    = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*Z"`)
	identifier = regexp.MustCompile(`"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"`)
)

// inJSON is an object in which all times are one, and all identifiers.
func inJSON(s *env, meta metav1.ObjectMeta, parts ...any) string {
	meta.ResourceVersion, meta.ManagedFields = "", nil
	content, err := json.Marshal(append([]any{meta}, parts...))
	require.NoError(s.t, err)
	content = instant.ReplaceAll(content, []byte(`"TIME"`))
	content = identifier.ReplaceAll(content, []byte(`"UID"`))
	return strings.ReplaceAll(string(content), s.namespace, "NAMESPACE")
}

package behaviour

import (
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

// crashes plays one story undisturbed and counts the writes in it. Then it plays
// the story twice for each of them. This write reaches the server, and the
// answer does not come back. The first time the operator dies of that, and a new
// one takes over; the second time it lives on. What the cluster comes to must be
// the same, to the last label.
func crashes(t *testing.T, suite *suite) {
	var requests *ledger
	s, want := voyage(t, suite, func(s *scene) { requests = s.start().requests })
	s.told("harbour", "Normal Started", "Normal Succeeded")
	s.told("storm", "Normal Started", "Warning CommandFailed")
	s.told("wreck", "Normal Started", "Warning PodDeleted")
	s.told("fog", "Warning StartingDeadlineExceeded")
	s.told("reef", "Normal Started", "Warning PodNameTaken")
	writes := requests.accepted()
	assert.Len(t, writes, 23, "the story is not the one that its comments tell: %v", writes)

	for n, write := range writes {
		t.Run(fmt.Sprintf("the operator dies after write %d, to %s", n+1, write), func(t *testing.T) {
			t.Parallel()
			var deaths atomic.Int32
			_, got := voyage(t, suite, func(s *scene) { s.startAgainAfter(n+1, &deaths) })
			assert.Equal(t, want, got)
			assert.EqualValues(t, 1, deaths.Load())
		})
		t.Run(fmt.Sprintf("the answer is lost to write %d, to %s", n+1, write), func(t *testing.T) {
			t.Parallel()
			var lost atomic.Int32
			_, got := voyage(t, suite, func(s *scene) { s.start(suffering(loseAnswer(n+1, func() { lost.Add(1) }))) })
			assert.Equal(t, want, got)
			assert.EqualValues(t, 1, lost.Load())
		})
	}
}

// voyage plays the story, and returns what is in the cluster at the end.
func voyage(t *testing.T, suite *suite, start func(*scene)) (s *scene, end []string) {
	s = newScene(t, suite)
	s.foreignPod("reef-pod")
	start(s)

	s.create("harbour", "11:00:00")
	s.becomes("harbour", waiting) // the status PENDING
	s.step = 5 * time.Minute
	s.becomes("harbour", running) // a pod, RUNNING, an event
	s.step = little
	s.ends("harbour-pod", 0)
	s.becomes("harbour", succeeded) // DONE, an event

	s.create("storm", "09:00:00")
	s.becomes("storm", running) // a pod, RUNNING, an event
	s.ends("storm-pod", 1)
	s.becomes("storm", failed("CommandFailed")) // DONE, an event

	s.create("wreck", "09:00:00")
	s.becomes("wreck", running) // a pod, RUNNING, an event
	s.deletePod("wreck-pod")
	s.becomes("wreck", failed("PodDeleted")) // DONE, an event

	s.create("fog", "09:00:00", deadline(1))
	s.becomes("fog", missed) // DONE, an event

	s.create("reef", "09:00:00")
	s.becomes("reef", blocked("PodNameTaken")) // PENDING, an event
	s.deletePod("reef-pod")
	s.step = time.Second
	s.becomes("reef", running) // a pod, RUNNING, an event

	s.step = little
	s.probe()
	s.ran("harbour", "storm", "wreck", "reef")
	return s, s.everything()
}

// startAgainAfter starts an operator that dies after so many writes. Then another
// takes over.
func (s *scene) startAgainAfter(writes int, deaths *atomic.Int32) {
	d := &dying{}
	dead := make(chan struct{})
	lost := func() {
		d.die()
		deaths.Add(1)
		close(dead)
	}
	first := s.start(suffering(loseAnswer(writes, lost)), suffering(d.pass))
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-dead:
			first.stop()
			s.start()
		case <-s.t.Context().Done(): // the story is at its end
		}
	}()
	s.t.Cleanup(func() { <-done })
}

// everything is all Ats, and all pods that are there, without what differs from
// one play to the next. It also checks that nothing was told twice.
func (s *scene) everything() []string {
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
func inJSON(s *scene, meta metav1.ObjectMeta, parts ...any) string {
	meta.ResourceVersion, meta.ManagedFields = "", nil
	content, err := json.Marshal(append([]any{meta}, parts...))
	require.NoError(s.t, err)
	content = instant.ReplaceAll(content, []byte(`"TIME"`))
	content = identifier.ReplaceAll(content, []byte(`"UID"`))
	return strings.ReplaceAll(string(content), s.namespace, "SCENE")
}

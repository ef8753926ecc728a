package behaviour

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/05-crd-operator/internal/faults"
)

// crashes leads some Ats to their ends, and counts the writes. Then it does so twice for each of them.
// This write reaches the server, and the answer does not come back. The first time the operator dies of
// that, and a new one takes over; the second time it lives on. All must end in the same state.
func crashes(t *testing.T, suite *suite) {
	s := newEnv(t, suite)
	o := s.start()
	want := s.threeLives()
	var writes []string
	s.eventually("the writes that the comments of threeLives count", func(context.Context) (any, bool) {
		writes = nil
		for _, r := range o.all() {
			if isWrite(r.what) && r.code/100 == 2 && !strings.HasPrefix(r.at, "fence-") {
				writes = append(writes, r.what)
			}
		}
		return writes, len(writes) == 19
	})

	for i, write := range writes {
		for what, dies := range map[string]bool{"the operator dies after": true, "the answer is lost to": false} {
			t.Run(fmt.Sprintf("%s write %d, to %s", what, i+1, write), func(t *testing.T) {
				t.Parallel()
				s := newEnv(t, suite)
				lose, lost := faults.LoseAnswer(i+1, dies, func(r *http.Request) bool { return isWrite(parse(r).what) })
				first := s.start(func(o *operator) { o.faults = append(o.faults, lose) })
				faults.WhenLost(t, lost, func() {
					if dies {
						first.stop()
						s.start()
					}
				})
				assert.Equal(t, want, s.threeLives())
			})
		}
	}
}

// threeLives leads three Ats to their ends, and returns what is in the cluster then.
func (s *env) threeLives() []string {
	s.t.Helper()
	s.create("harbour", "11:00:00")
	s.becomes("harbour", waiting) // PENDING
	s.step = 5 * time.Minute
	s.runs("harbour") // RUNNING, a pod, an event
	s.step = 50 * time.Millisecond
	s.ends("harbour", 0)
	s.becomes("harbour", succeeded) // DONE, an event, the finalizer
	s.released("harbour")

	s.create("wreck", "09:00:00")
	s.deletePod("wreck")        // RUNNING, a pod, an event
	s.becomes("wreck", deleted) // DONE, an event, the finalizer
	s.gone("wreck")

	s.foreignPod("reef")
	s.create("reef", "09:00:00")
	s.becomes("reef", taken) // RUNNING, that the name is taken, an event
	s.deletePod("reef")
	s.step = time.Second
	s.runs("reef") // a pod, an event, and that nothing is in the way
	s.step = 50 * time.Millisecond
	s.settle()
	s.ran("harbour", "wreck", "reef")
	return s.state()
}

// state is all Ats and all pods, without what differs from one run to the next. Of events, which may be
// lost, it only sees that none was recorded twice.
func (s *env) state() (all []string) {
	s.t.Helper()
	ats, err := s.ats.List(s.t.Context(), metav1.ListOptions{})
	require.NoError(s.t, err)
	pods, err := s.pods.List(s.t.Context(), metav1.ListOptions{})
	require.NoError(s.t, err)
	for _, at := range ats.Items {
		events, err := s.events(s.t.Context(), &at)
		require.NoError(s.t, err)
		assert.Equal(s.t, slices.Compact(slices.Clone(events)), events, "events about %s", at.Name)
		all = append(all, fmt.Sprintf("At %s: %s, in %s, with an exit code: %t", at.Name, words(&at), at.Status.PodName, at.Status.ExitCode != nil))
	}
	for _, pod := range pods.Items {
		all = append(all, fmt.Sprintf("pod %s: %s, %v, %v, of %d", pod.Name, pod.Status.Phase, pod.Labels, pod.Finalizers, len(pod.OwnerReferences)))
	}
	slices.Sort(all)
	return all
}

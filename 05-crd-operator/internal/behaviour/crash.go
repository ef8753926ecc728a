package behaviour

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/testcluster"
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
		t.Run(fmt.Sprintf("the operator dies after write %d, to %s", i+1, write), func(t *testing.T) {
			t.Parallel()
			s := newEnv(t, suite)
			var lost <-chan struct{}
			mortal := s.start(func(o *operator) { lost = o.loseAnswer(i+1, dies) })
			var heir sync.WaitGroup
			heir.Go(func() {
				select {
				case <-lost:
					mortal.stop()
					s.start()
				case <-t.Context().Done(): // the case is over
				}
			})
			t.Cleanup(heir.Wait)
			assert.Equal(t, want, s.threeLives())
			assert.True(t, isClosed(lost), "it has not made so many writes")
		})
		t.Run(fmt.Sprintf("the answer is lost to write %d, to %s", i+1, write), func(t *testing.T) {
			t.Parallel()
			s := newEnv(t, suite)
			var lost <-chan struct{}
			s.start(func(o *operator) { lost = o.loseAnswer(i+1, livesOn) })
			assert.Equal(t, want, s.threeLives())
			assert.True(t, isClosed(lost), "it has not made so many writes")
		})
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

const dies, livesOn = true, false

// loseAnswer lets the write with this number, counted from 1, reach the server, and loses the answer. If
// the operator dies of it, no later write arrives. Writes that the server refuses do not count.
func (o *operator) loseAnswer(number int, dies bool) (lost <-chan struct{}) {
	errLost, done := errors.New("the network is in a bad mood"), make(chan struct{})
	var mu sync.Mutex // one write at a time
	accepted := 0
	o.faults = append(o.faults, testcluster.Through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if !isWrite(parse(r).what) {
			return next.RoundTrip(r) // what the caches of a dead operator read hurts nobody
		}
		mu.Lock()
		defer mu.Unlock()
		if dies && accepted >= number {
			return nil, errLost
		}
		response, err := next.RoundTrip(r)
		if err != nil || response.StatusCode/100 != 2 {
			return response, err
		}
		if accepted++; accepted != number {
			return response, nil
		}
		response.Body.Close()
		close(done)
		return nil, errLost
	}))
	return done
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

var (
	errSilent      = errors.New("no answer at all")
	errUnreachable = errors.New("connection refused")
	errForbidden   = apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no role"))
	errExpired     = apierrors.NewResourceExpired("too old")
	errGone        = &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusGone, Reason: metav1.StatusReasonGone, Message: "too old"}}
)

// server is in the place of the API server. Each request gets the next answer; the last one is for
// all requests that follow. It records the requests, and when they came.
type server struct {
	lists    []any // a *corev1.PodList, or an error
	watches  []any // a stream, or an error
	requests []string
	times    []time.Time
	listed   []string           // the versions that the lists named
	options  metav1.ListOptions // of the last watch
}

// stream is what a watch brings. Then the server ends it, or leaves it open.
type stream struct {
	events []watch.Event
	open   bool
}

func (s *server) List(ctx context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
	s.listed = append(s.listed, options.ResourceVersion)
	switch answer := s.next(ctx, &s.lists, "list").(type) {
	case *corev1.PodList:
		return answer, nil
	default:
		return nil, answer.(error)
	}
}

func (s *server) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.options = options
	switch answer := s.next(ctx, &s.watches, "watch "+options.ResourceVersion).(type) {
	case stream:
		w := watch.NewFakeWithChanSize(len(answer.events), false)
		for _, event := range answer.events {
			w.Action(event.Type, event.Object)
		}
		if answer.open {
			context.AfterFunc(ctx, w.Stop)
		} else {
			w.Stop()
		}
		return w, nil
	default:
		return nil, answer.(error)
	}
}

func (s *server) next(ctx context.Context, answers *[]any, request string) any {
	s.requests, s.times = append(s.requests, request), append(s.times, time.Now())
	answer := (*answers)[0]
	if len(*answers) > 1 {
		*answers = (*answers)[1:]
	}
	if err, failed := answer.(error); failed && errors.Is(err, errSilent) {
		<-ctx.Done()
		return context.Cause(ctx) // as net/http does
	}
	return answer
}

// pauses are the times between requests. A watch follows a list without one.
func (s *server) pauses() (pauses []time.Duration) {
	for i := range s.times[1:] {
		if pause := s.times[i+1].Sub(s.times[i]); pause > 0 {
			pauses = append(pauses, pause)
		}
	}
	return pauses
}

// follow follows the server for so long, in fake time.
func follow(t *testing.T, s *server, long time.Duration, out io.Writer) (reported []string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	f := newFollower(s, "", out)
	f.report = func(c change) { reported = append(reported, inWords([]change{c})...) }
	err = f.follow(ctx)
	return reported, err
}

func TestRequestsAndChanges(t *testing.T) {
	added := watch.Event{Type: watch.Added, Object: pod("buoy", 8)}
	open := stream{open: true}
	tests := map[string]struct {
		lists, watches []any
		requests       []string
		reported       []string
	}{
		"a watch begins where the list ended": {
			[]any{list(7, pod("bell", 3))}, []any{stream{[]watch.Event{added}, true}},
			[]string{"list", "watch 7"}, []string{"ADDED bell@3", "ADDED buoy@8"}},
		"a watch that ended goes on after the last event": {
			[]any{list(7)}, []any{stream{events: []watch.Event{added}}, stream{events: []watch.Event{bookmark(12)}}, open},
			[]string{"list", "watch 7", "watch 8", "watch 12"}, []string{"ADDED buoy@8"}},
		"an ERROR event leads to a list": {
			[]any{list(7), list(20)}, []any{stream{events: []watch.Event{added, gone()}}, open},
			[]string{"list", "watch 7", "list", "watch 20"}, []string{"ADDED buoy@8", "DELETED buoy@8"}},
		"the status 410 Expired leads to a list": {
			[]any{list(7), list(20)}, []any{errExpired, open},
			[]string{"list", "watch 7", "list", "watch 20"}, nil},
		"the status 410 Gone leads to a list": {
			[]any{list(7), list(20)}, []any{errGone, open},
			[]string{"list", "watch 7", "list", "watch 20"}, nil},
		"a watch that fails is made again from the same version": {
			[]any{list(7)}, []any{errUnreachable, errForbidden, stream{[]watch.Event{added}, true}},
			[]string{"list", "watch 7", "watch 7", "watch 7"}, []string{"ADDED buoy@8"}},
		"a list that worked once is tried again": {
			[]any{list(7), errUnreachable, errForbidden, list(20)}, []any{stream{events: []watch.Event{gone()}}, open},
			[]string{"list", "watch 7", "list", "list", "list", "watch 20"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{lists: tc.lists, watches: tc.watches}
				reported, err := follow(t, s, 4*time.Minute, io.Discard)
				require.NoError(t, err)
				assert.Equal(t, tc.requests, s.requests)
				assert.Equal(t, tc.reported, reported)
			})
		})
	}
}

func TestAnErrorOfTheFirstListIsTheUsersToFix(t *testing.T) {
	for answer, want := range map[error]string{errForbidden: "no role", errSilent: "context deadline exceeded"} {
		synctest.Test(t, func(t *testing.T) {
			_, err := follow(t, &server{lists: []any{answer}}, time.Hour, io.Discard)
			require.ErrorContains(t, err, "listing the pods: ")
			require.ErrorContains(t, err, want)
		})
	}
}

func TestPausesGrowToTheCap(t *testing.T) {
	closed, expired := stream{}, stream{events: []watch.Event{gone()}}
	servers := map[string]*server{
		"the server is down":               {lists: []any{list(7)}, watches: []any{errUnreachable}},
		"each watch is closed at once":     {lists: []any{list(7)}, watches: []any{closed}},
		"each watch brings an ERROR event": {lists: []any{list(7)}, watches: []any{expired}},
		"each version is gone":             {lists: []any{list(7)}, watches: []any{errExpired}},
		"the second list never works":      {lists: []any{list(7), errUnreachable}, watches: []any{expired}},
	}
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := follow(t, server, time.Hour, io.Discard)
				require.NoError(t, err)
				pauses := server.pauses()
				require.Greater(t, len(pauses), 60, "an hour of pauses of at most a minute")
				want := 100 * time.Millisecond
				for _, pause := range pauses {
					require.GreaterOrEqual(t, pause, want)
					require.LessOrEqual(t, pause, 2*want)
					want = min(2*want, 30*time.Second)
				}
			})
		})
	}
}

func TestPausesDiffer(t *testing.T) {
	different := map[time.Duration]bool{}
	for range 20 {
		backoff := newBackoff()
		different[backoff.Step()] = true
	}
	assert.Greater(t, len(different), 1, "twenty clients that come back in the same instant")
}

func TestAnEventMakesThePauseShortAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errUnreachable
		s := &server{lists: []any{list(7)}, watches: []any{down, down, down, down, down, down, stream{events: []watch.Event{bookmark(8)}}, stream{open: true}}}
		_, err := follow(t, s, 4*time.Minute, io.Discard)
		require.NoError(t, err)
		pauses := s.pauses()
		require.Len(t, pauses, 7)
		assert.GreaterOrEqual(t, pauses[5], 3200*time.Millisecond)
		assert.LessOrEqual(t, pauses[6], 200*time.Millisecond)
	})
}

func TestTheEndOfTheContextEndsEverythingAtOnce(t *testing.T) {
	expired := stream{events: []watch.Event{gone()}}
	servers := map[string]*server{
		"while it lists":                 {lists: []any{errSilent}},
		"while it opens a watch":         {lists: []any{list(7)}, watches: []any{errSilent}},
		"while it listens":               {lists: []any{list(7)}, watches: []any{stream{open: true}}},
		"while it pauses before a watch": {lists: []any{list(7)}, watches: []any{errUnreachable}},
		"while it pauses before a list":  {lists: []any{list(7), errUnreachable}, watches: []any{expired}},
	}
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const long = 20*time.Second + 17*time.Millisecond
				start := time.Now()
				_, err := follow(t, server, long, io.Discard)
				require.NoError(t, err)
				assert.Equal(t, long, time.Since(start))
			})
		})
	}
}

func TestAWatchThatIsNeverOpenedIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		s := &server{lists: []any{list(7)}, watches: []any{errSilent, stream{open: true}}}
		_, err := follow(t, s, 4*time.Minute, &out)
		require.NoError(t, err)
		assert.Equal(t, []string{"list", "watch 7", "watch 7"}, s.requests)
		assert.InDelta(t, timeout, s.times[2].Sub(s.times[1]), float64(time.Second))
		assert.Contains(t, out.String(), "# watching the pods: no answer within 30s; watching from version 7 in ")
	})
}

func TestASilentWatchIsReplacedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The connection is dead, without an error.
		s := &server{lists: []any{list(7)}, watches: []any{stream{open: true}}}
		_, err := follow(t, s, time.Hour, io.Discard)
		require.NoError(t, err)
		require.NotEmpty(t, s.pauses())
		assert.True(t, s.options.AllowWatchBookmarks)
		assert.InDelta(t, 450, *s.options.TimeoutSeconds, 150, "the server is told when to end it")
		for _, pause := range s.pauses() {
			assert.GreaterOrEqual(t, pause, 5*time.Minute)
			assert.LessOrEqual(t, pause, 11*time.Minute)
		}
	})
}

// With version 0, an API server may answer from its own cache, which may be older than what another
// one has sent us.
func TestAListIsNeverOlderThanWhatWasReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{lists: []any{list(7)}, watches: []any{stream{events: []watch.Event{gone()}}, stream{open: true}}}
		_, err := follow(t, s, 4*time.Minute, io.Discard)
		require.NoError(t, err)
		assert.Equal(t, []string{"", ""}, s.listed, "no version, which means the newest")
	})
}

func TestWhatHappenedIsPrinted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		s := &server{
			lists:   []any{list(7), errUnreachable, list(20)},
			watches: []any{stream{events: []watch.Event{bookmark(9)}}, errUnreachable, errExpired, stream{events: []watch.Event{gone()}}, stream{open: true}},
		}
		_, err := follow(t, s, 4*time.Minute, &out)
		require.NoError(t, err)
		assert.Equal(t, []string{
			"# the watch ended; watching from version 9 in SOON",
			"# watching the pods: connection refused; watching from version 9 in SOON",
			"# watching the pods: too old; listing in SOON",
			"# listing the pods: connection refused; listing in SOON",
			"# the server ended the watch: too old resource version: 1 (9); listing in SOON", "",
		}, strings.Split(regexp.MustCompile(`in [0-9.]+m?s`).ReplaceAllString(out.String(), "in SOON"), "\n"))
	})
}

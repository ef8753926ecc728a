package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

var (
	errUnreachable  = errors.New("connection refused")
	errForbidden    = apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no role"))
	errExpired      = apierrors.NewResourceExpired("too old")
	errGone         = &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusGone, Reason: metav1.StatusReasonGone, Message: "too old"}}
	errUnauthorized = apierrors.NewUnauthorized("who are you?")
)

// server is in the place of the API server. Each request gets the next answer; the last
// answer is for all requests that follow. It records the requests, and when they came.
type server struct {
	lists   []func(context.Context) (runtime.Object, error)
	watches []func(context.Context) (watch.Interface, error)

	requests []string // "list", "watch 7"
	times    []time.Time
}

func (s *server) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	s.record("list")
	return next(&s.lists)(ctx)
}

func (s *server) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.record("watch " + options.ResourceVersion)
	return next(&s.watches)(ctx)
}

func (s *server) record(request string) {
	s.requests = append(s.requests, request)
	s.times = append(s.times, time.Now())
}

func next[T any](answers *[]T) T {
	answer := (*answers)[0]
	if len(*answers) > 1 {
		*answers = (*answers)[1:]
	}
	return answer
}

func listing(version int, pods ...*corev1.Pod) func(context.Context) (runtime.Object, error) {
	return func(context.Context) (runtime.Object, error) {
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(version)}}
		for _, pod := range pods {
			list.Items = append(list.Items, *pod)
		}
		return list, nil
	}
}

func noList(err error) func(context.Context) (runtime.Object, error) {
	return func(context.Context) (runtime.Object, error) { return nil, err }
}

// closing is a watch that brings the events, and then the server ends it.
func closing(events ...watch.Event) func(context.Context) (watch.Interface, error) {
	return func(context.Context) (watch.Interface, error) {
		stream := watch.NewFakeWithChanSize(len(events), false)
		for _, event := range events {
			stream.Action(event.Type, event.Object)
		}
		stream.Stop()
		return stream, nil
	}
}

// staying is a watch that brings the events, and then nothing more.
func staying(events ...watch.Event) func(context.Context) (watch.Interface, error) {
	return func(ctx context.Context) (watch.Interface, error) {
		stream := watch.NewFakeWithChanSize(len(events), false)
		for _, event := range events {
			stream.Action(event.Type, event.Object)
		}
		context.AfterFunc(ctx, stream.Stop)
		return stream, nil
	}
}

func noWatch(err error) func(context.Context) (watch.Interface, error) {
	return func(context.Context) (watch.Interface, error) { return nil, err }
}

// follow lets a follower run for so long, in the fake time of synctest.
func follow(t *testing.T, source cache.ListerWatcherWithContext, long time.Duration) (*ledger, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	l := newLedger()
	err := newFollower(source, l.enter, t.Logf, 30*time.Second).run(ctx)
	return l, err
}

func TestRequestsAndChanges(t *testing.T) {
	added := watch.Event{Type: watch.Added, Object: pod("b", 8)}
	tests := map[string]struct {
		server   server
		requests []string
		reported []string
	}{
		"a watch begins where the list ended": {
			server{lists: lists(listing(7, pod("a", 3))), watches: watches(staying(added))},
			[]string{"list", "watch 7"}, []string{"ADDED a@3", "ADDED b@8"}},
		"a watch that ended goes on after the last event": {
			server{lists: lists(listing(7)), watches: watches(closing(added), closing(bookmark(12)), staying())},
			[]string{"list", "watch 7", "watch 8", "watch 12"}, []string{"ADDED b@8"}},
		"an ERROR event leads to a list": {
			server{lists: lists(listing(7, pod("a", 3)), listing(20)), watches: watches(closing(added, gone()), staying())},
			[]string{"list", "watch 7", "list", "watch 20"}, []string{"ADDED a@3", "ADDED b@8", "DELETED a@3", "DELETED b@8"}},
		"the status 410 Expired leads to a list": {
			server{lists: lists(listing(7), listing(20)), watches: watches(noWatch(errExpired), staying())},
			[]string{"list", "watch 7", "list", "watch 20"}, nil},
		"the status 410 Gone leads to a list": {
			server{lists: lists(listing(7), listing(20)), watches: watches(noWatch(errGone), staying())},
			[]string{"list", "watch 7", "list", "watch 20"}, nil},
		"a watch that fails is made again from the same version": {
			server{lists: lists(listing(7)), watches: watches(noWatch(errUnreachable), noWatch(errUnreachable), staying(added))},
			[]string{"list", "watch 7", "watch 7", "watch 7"}, []string{"ADDED b@8"}},
		"a list that worked once is tried again": {
			server{lists: lists(listing(7), noList(errUnreachable), noList(errForbidden), listing(20)), watches: watches(closing(gone()), staying(added))},
			[]string{"list", "watch 7", "list", "list", "list", "watch 20"}, []string{"ADDED b@8"}},
		"a watch that worked once is tried again although it is refused": {
			// A server that has just started does not know its roles yet.
			server{lists: lists(listing(7)), watches: watches(closing(), noWatch(errForbidden), noWatch(errUnauthorized), staying(added))},
			[]string{"list", "watch 7", "watch 7", "watch 7", "watch 7"}, []string{"ADDED b@8"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := follow(t, &tc.server, 4*time.Minute)
				require.NoError(t, err)
				assert.Equal(t, tc.requests, tc.server.requests)
				assert.Equal(t, tc.reported, l.reported())
				assert.Empty(t, l.contradictions())
			})
		})
	}
}

func lists(answers ...func(context.Context) (runtime.Object, error)) []func(context.Context) (runtime.Object, error) {
	return answers
}

func watches(answers ...func(context.Context) (watch.Interface, error)) []func(context.Context) (watch.Interface, error) {
	return answers
}

func TestWhatNeverWorkedIsAnError(t *testing.T) {
	tests := map[string]struct {
		server server
		want   error
	}{
		"an unreachable server":       {server{lists: lists(noList(errUnreachable))}, errUnreachable},
		"a list that is forbidden":    {server{lists: lists(noList(errForbidden))}, errForbidden},
		"a watch that is forbidden":   {server{lists: lists(listing(7)), watches: watches(noWatch(errForbidden))}, errForbidden},
		"a type that has no watch":    {server{lists: lists(listing(7)), watches: watches(noWatch(errNoWatch))}, errNoWatch},
		"a list that is never sent":   {server{lists: lists(blockedList)}, context.DeadlineExceeded},
		"a list without a version":    {server{lists: lists(unversionedList)}, errNoVersion},
		"an answer that is no list":   {server{lists: lists(podForList)}, errNoList},
		"a report that does not work": {server{lists: lists(listing(7, pod("broken", 1)))}, errBroken},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				report := func(change) error { return errBroken }
				err := newFollower(&tc.server, report, t.Logf, 30*time.Second).run(t.Context())
				require.ErrorContains(t, err, tc.want.Error())
			})
		})
	}
}

var (
	errBroken  = errors.New("broken pipe")
	errNoList  = errors.New("must be a list")
	errNoWatch = apierrors.NewMethodNotSupported(corev1.Resource("componentstatuses"), "watch")
)

func blockedList(ctx context.Context) (runtime.Object, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func unversionedList(context.Context) (runtime.Object, error) { return &corev1.PodList{}, nil }

func podForList(context.Context) (runtime.Object, error) { return pod("a", 1), nil }

func blockedWatch(ctx context.Context) (watch.Interface, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx) // as net/http does
}

func TestPausesGrowToTheCap(t *testing.T) {
	servers := map[string]*server{
		"the server is down":               {lists: lists(listing(7)), watches: watches(closing(), noWatch(errUnreachable))},
		"each watch is closed at once":     {lists: lists(listing(7)), watches: watches(closing())},
		"each watch brings an ERROR event": {lists: lists(listing(7)), watches: watches(closing(gone()))},
		"each version is gone":             {lists: lists(listing(7)), watches: watches(noWatch(errExpired))},
		"the second list never works":      {lists: lists(listing(7), noList(errUnreachable)), watches: watches(closing(gone()))},
	}
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				noted := func(string, ...any) {} // without the pauses that would be many
				require.NoError(t, newFollower(server, newLedger().enter, noted, 30*time.Second).run(ctx))
				gaps := server.gaps()
				require.Greater(t, len(gaps), 60, "an hour of pauses of at most a minute")
				want := 100 * time.Millisecond
				for _, gap := range gaps {
					require.GreaterOrEqual(t, gap, want)
					require.LessOrEqual(t, gap, 2*want)
					want = min(2*want, 30*time.Second)
				}
			})
		})
	}
}

// gaps are the times between requests; a watch follows a list without one.
func (s *server) gaps() []time.Duration {
	var gaps []time.Duration
	for i := range s.times[1:] {
		if gap := s.times[i+1].Sub(s.times[i]); gap > 0 {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

func TestPausesDiffer(t *testing.T) {
	different := map[time.Duration]bool{}
	for range 20 {
		different[newBackoff().step()] = true
	}
	assert.Greater(t, len(different), 1, "twenty clients that come back in the same instant")
}

func TestAnEventMakesThePauseShortAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := noWatch(errUnreachable)
		s := &server{lists: lists(listing(7)), watches: watches(down, down, down, down, down, down, closing(bookmark(8)), staying())}
		_, err := follow(t, s, 4*time.Minute)
		require.NoError(t, err)
		gaps := s.gaps()
		require.Len(t, gaps, 7)
		assert.GreaterOrEqual(t, gaps[5], 3200*time.Millisecond)
		assert.LessOrEqual(t, gaps[6], 200*time.Millisecond)
	})
}

func TestTheEndOfTheContextEndsEverythingAtOnce(t *testing.T) {
	servers := map[string]*server{
		"while it lists":                 {lists: lists(blockedList)},
		"while it opens a watch":         {lists: lists(listing(7)), watches: watches(blockedWatch)},
		"while it listens":               {lists: lists(listing(7)), watches: watches(staying())},
		"while it pauses before a watch": {lists: lists(listing(7)), watches: watches(noWatch(errUnreachable))},
		"while it pauses before a list":  {lists: lists(listing(7), noList(errUnreachable)), watches: watches(closing(gone()))},
	}
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const long = 20*time.Second + 17*time.Millisecond
				start := time.Now()
				_, err := follow(t, server, long)
				require.NoError(t, err)
				assert.Equal(t, long, time.Since(start))
			})
		})
	}
}

func TestAWatchThatIsNeverOpenedIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{lists: lists(listing(7)), watches: watches(blockedWatch, staying())}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		var notes []string
		noted := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
		require.NoError(t, newFollower(s, newLedger().enter, noted, 30*time.Second).run(ctx))
		assert.Equal(t, []string{"list", "watch 7", "watch 7"}, s.requests)
		assert.InDelta(t, 30*time.Second, s.times[2].Sub(s.times[1]), float64(time.Second), "--request-timeout")
		require.NotEmpty(t, notes)
		assert.Contains(t, notes[0], "watching failed (no answer within 30s); trying again")
	})
}

// What a user reads does not depend on who made the request.
func TestAServerThatListsAndNeverOpensAWatch(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`)
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	raw, err := newRawSource(config, "default", "", io.Discard, t.Logf)
	require.NoError(t, err)
	sources := map[string]cache.ListerWatcherWithContext{"pods": podSource(kubernetes.NewForConfigOrDie(config), "default", ""), "raw": raw}
	for subcommand, source := range sources {
		t.Run(subcommand, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var first string
			noted := func(format string, args ...any) {
				if first == "" {
					first = fmt.Sprintf(format, args...)
				}
				cancel()
			}
			require.NoError(t, newFollower(source, newLedger().enter, noted, 100*time.Millisecond).run(ctx))
			assert.Contains(t, first, "watching failed (no answer within 100ms); trying again")
		})
	}
}

func TestASilentWatchIsReplacedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The connection is dead, without an error.
		s := &server{lists: lists(listing(7)), watches: watches(staying())}
		_, err := follow(t, s, time.Hour)
		require.NoError(t, err)
		for _, gap := range s.gaps() {
			assert.GreaterOrEqual(t, gap, 5*time.Minute)
			assert.LessOrEqual(t, gap, 11*time.Minute)
		}
		assert.NotEmpty(t, s.gaps())
	})
}

func TestAListComesInPages(t *testing.T) {
	var options []metav1.ListOptions
	source := &cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			options = append(options, o)
			page := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"}}
			if o.Continue != "" {
				page.Continue = ""
			}
			page.Items = []corev1.Pod{*pod("a"+o.Continue, 3)}
			return page, nil
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			options = append(options, o)
			return staying()(ctx)
		},
	}
	synctest.Test(t, func(t *testing.T) {
		l, err := follow(t, source, time.Minute)
		require.NoError(t, err)
		assert.Equal(t, []string{"ADDED a@3", "ADDED amore@3"}, l.reported())
	})
	require.Len(t, options, 3)
	assert.EqualValues(t, 500, options[0].Limit)
	assert.Empty(t, options[0].ResourceVersion, "the newest state, not any")
	assert.Equal(t, "more", options[1].Continue)
	assert.Equal(t, "7", options[2].ResourceVersion)
	assert.True(t, options[2].AllowWatchBookmarks)
}

// TestAListIsNeverOlderThanWhatWasReported has an API server with two replicas. A
// list of version 0 comes from the cache of the one that is stale.
func TestAListIsNeverOlderThanWhatWasReported(t *testing.T) {
	behind, newest := listing(7, pod("a", 3)), lists(listing(7, pod("a", 3)), listing(20))
	streams := watches(closing(watch.Event{Type: watch.Deleted, Object: pod("a", 9)}, gone()), staying())
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			answer := next(&newest)
			if o.ResourceVersion == "0" {
				answer = behind
			}
			return answer(ctx)
		},
		WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) { return next(&streams)(ctx) },
	}
	synctest.Test(t, func(t *testing.T) {
		l, err := follow(t, source, 4*time.Minute)
		require.NoError(t, err)
		assert.Equal(t, []string{"ADDED a@3", "DELETED a@9"}, l.reported())
	})
}

func TestWhatHappenedIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{
			lists:   lists(listing(7), noList(errUnreachable), listing(20)),
			watches: watches(closing(bookmark(9)), noWatch(errUnreachable), noWatch(errExpired), closing(gone()), staying()),
		}
		var notes []string
		note := func(format string, args ...any) {
			args[len(args)-1] = "SOON" // the pause differs each time
			notes = append(notes, fmt.Sprintf(format, args...))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		require.NoError(t, newFollower(s, newLedger().enter, note, 30*time.Second).run(ctx))
		assert.Equal(t, []string{
			"the watch ended; going on from version 9 in SOON",
			"watching failed (connection refused); trying again in SOON",
			"version 9 is gone (too old); listing again in SOON",
			"listing failed (connection refused); trying again in SOON",
			"the server ended the watch (too old resource version: 1 (9)); listing again in SOON",
		}, notes)
	})
}

func TestRefused(t *testing.T) {
	for _, err := range []error{errForbidden, errUnauthorized, errNoWatch, apierrors.NewBadRequest("what?"), apierrors.NewNotFound(corev1.Resource("pods"), "")} {
		assert.True(t, refused(err), err)
	}
	for _, err := range []error{errUnreachable, errExpired, apierrors.NewServiceUnavailable("starting"), apierrors.NewTooManyRequests("busy", 1),
		&apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusInternalServerError}}} {
		assert.False(t, refused(err), err)
	}
}

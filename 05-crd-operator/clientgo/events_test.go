package clientgo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

func eventsIn(list runtime.Object) []eventsv1.Event { return list.(*eventsv1.EventList).Items }

// sink is a server for events that answers as it is told to.
type sink struct {
	clientevents.EventSink
	answer func(ctx context.Context, attempt int) error

	mu       sync.Mutex
	attempts int
	notes    []string
}

func (s *sink) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	s.mu.Lock()
	s.attempts++
	attempt := s.attempts
	s.mu.Unlock()
	if err := s.answer(ctx, attempt); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, event.Note)
	return event, nil
}

// tellTo starts the recorder with this sink behind it. The lines that are logged
// are appended to lost.
func tellTo(t *testing.T, s *sink, lost *[]string) *events {
	var mu sync.Mutex
	log := funcr.New(func(_, args string) {
		mu.Lock()
		defer mu.Unlock()
		*lost = append(*lost, args)
	}, funcr.Options{})
	e, err := startEvents(klog.NewContext(t.Context(), log), kubefake.NewClientset())
	require.NoError(t, err)
	e.EventSink = s
	return e
}

func happened(note string) *lifecycle.Event {
	return &lifecycle.Event{Type: "Normal", Reason: "Started", Note: note}
}

func never(context.Context, int) error { return errors.New("no route to host") }

func TestAnEventIsWrittenBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(context.Context, int) error {
			time.Sleep(farewell / 2) //nolint:forbidigo // fake time: a slow server
			return nil
		}}
		e := tellTo(t, s, nil)
		e.tell(t.Context(), newAt(), happened("100% done"))
		e.stop()
		assert.Equal(t, []string{"100% done"}, s.notes)
	})
}

func TestTheEndDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost []string
		s := &sink{answer: func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }}
		e := tellTo(t, s, &lost)
		start := time.Now()
		e.tell(t.Context(), version("1"), happened("a"))
		e.tell(t.Context(), version("2"), happened("b"))
		e.stop()
		assert.Equal(t, farewell, time.Since(start))
		synctest.Wait() // and nothing goes on in the background
		assert.Len(t, lost, 2)
	})
}

func TestAnEventIsWrittenAlthoughTheContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		e, err := startEvents(ctx, kubefake.NewClientset())
		require.NoError(t, err)
		s := &sink{answer: func(ctx context.Context, _ int) error { return ctx.Err() }}
		e.EventSink = s
		cancel()
		synctest.Wait()
		e.tell(t.Context(), newAt(), happened("a"))
		e.stop()
		assert.Equal(t, []string{"a"}, s.notes)
	})
}

func TestAnEventWithoutAnAnswerIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(ctx context.Context, attempt int) error {
			if attempt < 4 {
				return never(ctx, attempt)
			}
			return nil
		}}
		e := tellTo(t, s, nil)
		e.tell(t.Context(), newAt(), happened("a"))
		time.Sleep(time.Second) //nolint:forbidigo // fake time
		e.stop()
		assert.Equal(t, []string{"a"}, s.notes)
		assert.Equal(t, 4, s.attempts)
	})
}

func TestAnEventThatCannotBeWrittenIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost []string
		s := &sink{answer: never}
		e := tellTo(t, s, &lost)
		e.tell(t.Context(), newAt(), happened("a"))
		time.Sleep(time.Hour) //nolint:forbidigo // fake time
		synctest.Wait()
		assert.Equal(t, pauses.Steps, s.attempts, "and the recorder does not begin from the start")
		assert.Empty(t, e.slots)
		assert.Len(t, lost, 1)
		assert.Contains(t, lost[0], "an event is lost")
		e.stop()
	})
}

func TestAnAttemptHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(ctx context.Context, attempt int) error {
			if attempt == 1 {
				<-ctx.Done()
			}
			return ctx.Err()
		}}
		e := tellTo(t, s, nil)
		e.tell(t.Context(), newAt(), happened("a"))
		time.Sleep(11 * time.Second) //nolint:forbidigo // fake time
		synctest.Wait()
		assert.Equal(t, []string{"a"}, s.notes)
		e.stop()
	})
}

func TestAnAnswerIsFinal(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		lost int
	}{
		"no":                    {apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", nil), 1},
		"it was written before": {apierrors.NewAlreadyExists(schema.GroupResource{Resource: "events"}, ""), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lost []string
				s := &sink{answer: func(context.Context, int) error { return tc.err }}
				e := tellTo(t, s, &lost)
				e.tell(t.Context(), newAt(), happened("a"))
				time.Sleep(time.Hour) //nolint:forbidigo // fake time
				synctest.Wait()
				assert.Equal(t, 1, s.attempts)
				assert.Len(t, lost, tc.lost)
				e.stop()
			})
		})
	}
}

func TestNoEventIsDroppedWhenThereAreMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{answer: func(context.Context, int) error {
			time.Sleep(time.Second) //nolint:forbidigo // fake time: a slow server
			return nil
		}}
		e := tellTo(t, s, nil)
		var want []string
		for n := range 3000 {
			want = append(want, fmt.Sprint(n))
			at := newAt()
			at.ResourceVersion = fmt.Sprint(n + 1)
			e.tell(t.Context(), at, happened(want[n]))
		}
		time.Sleep(time.Minute) //nolint:forbidigo // fake time
		e.stop()
		slices.Sort(want)
		assert.Equal(t, want, slices.Sorted(slices.Values(s.notes)))
	})
}

func TestWhoHasNoTimeToTellDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost []string
		e := tellTo(t, &sink{answer: never}, &lost)
		for n := range onTheirWay {
			at := newAt()
			at.ResourceVersion = fmt.Sprint(n + 1)
			e.tell(t.Context(), at, happened("a"))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		e.tell(ctx, newAt(), happened("b"))
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
		e.stop()
		synctest.Wait()
	})
}

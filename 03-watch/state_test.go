package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// pod is a pod in a given version. Unless a test changes that, the same name
// is the same object.
func pod(name string, version int) *corev1.Pod {
	return incarnation(name, 1, version)
}

// incarnation is the nth pod of that name.
func incarnation(name string, n, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name,
		UID: types.UID(fmt.Sprintf("%s-%d", name, n)), ResourceVersion: strconv.Itoa(version),
	}}
}

func bookmark(version int) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(version)}}}
}

func gone() watch.Event {
	return watch.Event{Type: watch.Error, Object: &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version: 1 (9)",
	}}
}

// answer is a step of a test: the next answer of the server.
type answer func(*state) ([]change, error)

func list(version int, pods ...*corev1.Pod) answer {
	return func(s *state) ([]change, error) {
		var objects []metav1.Object
		for _, pod := range pods {
			objects = append(objects, pod)
		}
		return s.listed(objects, strconv.Itoa(version)), nil
	}
}

func event(typ watch.EventType, pod *corev1.Pod) answer {
	return hears(watch.Event{Type: typ, Object: pod})
}

func hears(event watch.Event) answer {
	return func(s *state) ([]change, error) { return s.heard(event) }
}

func expires(s *state) ([]change, error) {
	s.expired()
	return nil, nil
}

// answers are what the server sends, and what has to come of it.
type answers struct {
	answers  []answer
	reported []string
	version  string // that the next watch begins at; empty: the next request is a list
}

func TestChangesAfterLists(t *testing.T) {
	testChanges(t, map[string]answers{
		"nothing is known, so list": {nil, nil, ""},
		"the first list is all new, and the watch begins at its version": {
			[]answer{list(7, pod("a", 3), pod("b", 5))},
			[]string{"ADDED a@3", "ADDED b@5"}, "7"},
		"an empty cluster has a version, too": {[]answer{list(7)}, nil, "7"},
		"after expiry, list; what is the same is not reported again": {
			[]answer{list(7, pod("a", 3), pod("b", 5)), expires, list(20, pod("a", 3), pod("b", 5))},
			[]string{"ADDED a@3", "ADDED b@5"}, "20"},
		"after expiry, what is missing was deleted, in the order of names": {
			[]answer{list(7, pod("c", 3), pod("b", 4), pod("a", 5)), expires, list(20, pod("b", 4))},
			[]string{"ADDED c@3", "ADDED b@4", "ADDED a@5", "DELETED a@5", "DELETED c@3"}, "20"},
		"after expiry, what is new was added and what differs was modified": {
			[]answer{list(7, pod("a", 3)), expires, list(20, pod("a", 18), pod("b", 19))},
			[]string{"ADDED a@3", "MODIFIED a@18", "ADDED b@19"}, "20"},
		"after expiry, the same name with another UID was deleted and added": {
			[]answer{list(7, pod("a", 3)), expires, list(20, incarnation("a", 2, 19))},
			[]string{"ADDED a@3", "DELETED a@3", "ADDED a@19"}, "20"},
		"expiry before the second list came is harmless": {
			[]answer{list(7, pod("a", 3)), expires, expires, list(20)},
			[]string{"ADDED a@3", "DELETED a@3"}, "20"},
	})
}

func TestChangesAfterEvents(t *testing.T) {
	testChanges(t, map[string]answers{
		"events are passed on, and move the version": {
			[]answer{list(7, pod("a", 3)), event(watch.Added, pod("b", 8)), event(watch.Modified, pod("a", 9)), event(watch.Deleted, pod("b", 10))},
			[]string{"ADDED a@3", "ADDED b@8", "MODIFIED a@9", "DELETED b@10"}, "10"},
		"a bookmark moves the version and changes nothing": {
			[]answer{list(7), hears(bookmark(4000))}, nil, "4000"},
		"a name that comes back is added again": {
			[]answer{list(7, pod("a", 3)), event(watch.Deleted, pod("a", 8)), event(watch.Added, incarnation("a", 2, 9))},
			[]string{"ADDED a@3", "DELETED a@8", "ADDED a@9"}, "9"},
		"an event that repeats what is known changes nothing": {
			[]answer{list(7, pod("a", 3)), event(watch.Added, pod("a", 3)), event(watch.Modified, pod("a", 3))},
			[]string{"ADDED a@3"}, "3"},
		"the deletion of something unknown changes nothing": {
			[]answer{list(7), event(watch.Deleted, pod("a", 8))}, nil, "8"},
		"a change to something unknown is an addition": {
			[]answer{list(7), event(watch.Modified, pod("a", 8))}, []string{"ADDED a@8"}, "8"},
	})
}

func testChanges(t *testing.T, tests map[string]answers) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newState()
			var all []change
			for _, answer := range tc.answers {
				changes, err := answer(s)
				require.NoError(t, err)
				all = append(all, changes...)
			}
			assert.Equal(t, tc.reported, inWords(all))
			assert.Equal(t, tc.version, s.version)
			assert.Equal(t, tc.version == "", s.mustList())
		})
	}
}

func TestWhatEndsAWatchAndItsVersion(t *testing.T) {
	tests := map[string]struct {
		event watch.Event
		want  string
	}{
		"410 Gone in the stream": {gone(), "too old resource version: 1 (9)"},
		"any other ERROR": {watch.Event{Type: watch.Error, Object: &apierrors.NewInternalError(fmt.Errorf("etcd is gone")).ErrStatus},
			"Internal error occurred: etcd is gone"},
		"an event that holds no object": {watch.Event{Type: watch.Added, Object: &metav1.Status{Message: "what?"}},
			"object does not implement the Object interfaces"},
		"an event without an object": {watch.Event{Type: watch.Added},
			"object does not implement the Object interfaces"},
		"an object without a version": {watch.Event{Type: watch.Added, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}},
			"the server sent an event without a version"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newState()
			s.listed([]metav1.Object{pod("a", 3)}, "7")
			changes, err := s.heard(tc.event)
			require.EqualError(t, err, tc.want)
			assert.Empty(t, changes)
			assert.True(t, s.mustList())
			assert.Len(t, s.known, 1, "what was reported must stay known, or the next list reports it again")
		})
	}
}

// TestAnyHistoryIsReportedWithoutContradiction lets a cluster change at random, and
// lets watches end and versions expire at random. After each list, and at the
// end, what was reported must be what is there.
func TestAnyHistoryIsReportedWithoutContradiction(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		cluster, l, s := newHistory(random), newLedger(), newState()
		for range 200 {
			cluster.change()
			var changes []change
			switch dice := random.IntN(20); {
			case s.mustList():
				changes = s.listed(cluster.objects())
				require.Equal(t, cluster.present(), presentAfter(l, changes), "seed %d", seed)
				continue
			case dice == 0: // the server forgets
				s.expired()
				cluster.delivered = len(cluster.events)
			case dice < 5: // nothing comes through for a while
			default:
				changes = catchUp(t, s, cluster)
			}
			presentAfter(l, changes)
		}
		if !s.mustList() {
			presentAfter(l, catchUp(t, s, cluster))
			require.Equal(t, cluster.present(), l.present(), "seed %d", seed)
		}
		require.Empty(t, l.contradictions(), "seed %d", seed)
	}
}

// presentAfter enters the changes and returns what should then be there.
func presentAfter(l *ledger, changes []change) map[types.NamespacedName]entry {
	for _, c := range changes {
		_ = l.enter(c)
	}
	return l.present()
}

// catchUp hears all events that were not delivered yet.
func catchUp(t *testing.T, s *state, cluster *history) (changes []change) {
	t.Helper()
	for ; cluster.delivered < len(cluster.events); cluster.delivered++ {
		more, err := s.heard(cluster.events[cluster.delivered])
		require.NoError(t, err)
		changes = append(changes, more...)
	}
	return changes
}

// history is a cluster of five names, and all that happened to them.
type history struct {
	random    *rand.Rand
	version   int
	pods      map[string]*corev1.Pod
	events    []watch.Event
	delivered int // how many of the events the client has had
}

func newHistory(random *rand.Rand) *history {
	return &history{random: random, pods: map[string]*corev1.Pod{}}
}

func (h *history) change() {
	h.version++
	name := string(rune('a' + h.random.IntN(5)))
	before, exists := h.pods[name]
	switch {
	case !exists:
		h.pods[name] = incarnation(name, h.version, h.version)
		h.events = append(h.events, watch.Event{Type: watch.Added, Object: h.pods[name]})
	case h.random.IntN(2) == 0:
		h.pods[name] = before.DeepCopy()
		h.pods[name].ResourceVersion = strconv.Itoa(h.version)
		h.events = append(h.events, watch.Event{Type: watch.Modified, Object: h.pods[name]})
	default:
		last := before.DeepCopy()
		last.ResourceVersion = strconv.Itoa(h.version)
		delete(h.pods, name)
		h.events = append(h.events, watch.Event{Type: watch.Deleted, Object: last})
	}
}

// objects answers a LIST.
func (h *history) objects() (objects []metav1.Object, version string) {
	for _, pod := range h.pods {
		objects = append(objects, pod)
	}
	h.delivered = len(h.events)
	return objects, strconv.Itoa(h.version)
}

func (h *history) present() map[types.NamespacedName]entry {
	present := map[types.NamespacedName]entry{}
	for _, pod := range h.pods {
		present[key(pod)] = entryOf(pod)
	}
	return present
}

package main

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// pod is a pod in a given version. The same name is the same pod.
func pod(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID(name), ResourceVersion: strconv.Itoa(version),
	}}
}

func list(version int, pods ...*corev1.Pod) *corev1.PodList {
	all := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(version)}}
	for _, pod := range pods {
		all.Items = append(all.Items, *pod)
	}
	return all
}

func bookmark(version int) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: pod("", version)}
}

func gone() watch.Event {
	return watch.Event{Type: watch.Error, Object: &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version: 1 (9)",
	}}
}

// inWords are the changes as ADDED bell@3.
func inWords(changes []change) (words []string) {
	for _, c := range changes {
		words = append(words, fmt.Sprintf("%s %s@%s", c.Type, c.Pod.Name, c.Pod.ResourceVersion))
	}
	return words
}

func TestTheFirstListIsAllNew(t *testing.T) {
	s := newState()
	assert.True(t, s.mustList(), "nothing is known")
	assert.Equal(t, []string{"ADDED bell@3", "ADDED buoy@5"}, inWords(s.listed(list(7, pod("bell", 3), pod("buoy", 5)))))
	assert.Equal(t, "7", s.version, "the watch begins where the list ends")
	assert.False(t, s.mustList())
}

func TestALaterListIsComparedWithWhatWasReported(t *testing.T) {
	s := newState()
	s.listed(list(7, pod("bell", 3), pod("buoy", 4), pod("crane", 5)))
	s.expired()
	changes := s.listed(list(20, pod("bell", 18), pod("crane", 5), pod("dock", 19)))
	assert.Equal(t, []string{"MODIFIED bell@18", "ADDED dock@19", "DELETED buoy@4"}, inWords(changes))
	assert.Equal(t, "20", s.version)
	assert.Empty(t, s.listed(list(21, pod("bell", 18), pod("crane", 5), pod("dock", 19))), "what was reported is known now")
}

func TestTheSameNameWithAnotherUIDIsAnotherPod(t *testing.T) {
	s := newState()
	s.listed(list(7, pod("bell", 3)))
	other := pod("bell", 19)
	other.UID = "another"
	assert.Equal(t, []string{"DELETED bell@3", "ADDED bell@19"}, inWords(s.listed(list(20, other))))
}

func TestEachEventIsReportedAndMovesTheVersion(t *testing.T) {
	s := newState()
	s.listed(list(7, pod("bell", 3)))
	for _, step := range []struct {
		event   watch.Event
		change  []string
		version string
	}{
		{watch.Event{Type: watch.Added, Object: pod("buoy", 8)}, []string{"ADDED buoy@8"}, "8"},
		{watch.Event{Type: watch.Modified, Object: pod("bell", 9)}, []string{"MODIFIED bell@9"}, "9"},
		{bookmark(4000), nil, "4000"},
		{watch.Event{Type: watch.Deleted, Object: pod("buoy", 4001)}, []string{"DELETED buoy@4001"}, "4001"},
		{watch.Event{Type: watch.Added, Object: pod("buoy", 4002)}, []string{"ADDED buoy@4002"}, "4002"},
	} {
		changes, err := s.heard(step.event)
		require.NoError(t, err)
		assert.Equal(t, step.change, inWords(changes))
		assert.Equal(t, step.version, s.version)
	}
}

// A server that sends everything again, or that knows more than we do, leads to no contradiction.
func TestAnEventIsComparedWithWhatWasReported(t *testing.T) {
	tests := map[string]struct {
		event watch.Event
		want  []string
	}{
		"what is known already changes nothing":    {watch.Event{Type: watch.Added, Object: pod("bell", 3)}, nil},
		"a deletion of something unknown, neither": {watch.Event{Type: watch.Deleted, Object: pod("buoy", 8)}, nil},
		"a change of something unknown is new":     {watch.Event{Type: watch.Modified, Object: pod("buoy", 8)}, []string{"ADDED buoy@8"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newState()
			s.listed(list(7, pod("bell", 3)))
			changes, err := s.heard(tc.event)
			require.NoError(t, err)
			assert.Equal(t, tc.want, inWords(changes))
		})
	}
}

func TestWhatEndsAWatchAndItsVersion(t *testing.T) {
	tests := map[string]struct {
		event watch.Event
		want  string
	}{
		"an ERROR, such as 410 Gone": {gone(), "too old resource version: 1 (9)"},
		"an event without a pod":     {watch.Event{}, "unexpected object: <nil>"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newState()
			s.listed(list(7, pod("bell", 3)))
			changes, err := s.heard(tc.event)
			require.EqualError(t, err, tc.want)
			assert.Empty(t, changes)
			assert.True(t, s.mustList())
			assert.Len(t, s.known, 1, "what was reported must stay known, or the next list reports it again")
		})
	}
}

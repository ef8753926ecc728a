package behaviour

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// What an At comes to, in words.
const (
	waiting   = "PENDING, Scheduled=True Waiting"
	running   = "RUNNING, Scheduled=True Started"
	taken     = "RUNNING, Scheduled=False PodNameTaken"
	lost      = "RUNNING, Scheduled=False PodLabelRemoved"
	notMade   = "RUNNING, Scheduled=False CreationRefused"
	succeeded = "DONE, Complete=True Succeeded, Scheduled=True Started"
	missed    = "DONE, Failed=True StartingDeadlineExceeded, Scheduled=False StartingDeadlineExceeded"
)

func failed(reason string) string { return "DONE, Failed=True " + reason + ", Scheduled=True Started" }

// words are the phase and the conditions of an At.
func words(at *cnat.At) string {
	var conditions []string
	for _, c := range at.Status.Conditions {
		conditions = append(conditions, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(conditions)
	return strings.Join(append([]string{string(at.Status.Phase)}, conditions...), ", ")
}

func (s *env) get(name string) *cnat.At {
	s.t.Helper()
	at, err := s.ats.Get(s.t.Context(), name, metav1.GetOptions{})
	require.NoError(s.t, err)
	return at
}

// becomes waits until the At has come to this.
func (s *env) becomes(name, want string) {
	s.t.Helper()
	s.eventually(name+" to become "+want, func(ctx context.Context) (any, bool) {
		at, err := s.ats.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err, false
		}
		got := words(at)
		return got, got == want
	})
}

// runs waits until the At is RUNNING, and its pod is there.
func (s *env) runs(name string) {
	s.t.Helper()
	s.becomes(name, running)
	s.podOf(s.get(name))
}

// ran are the Ats for which pods were ever created, each as often as that.
func (s *env) ran(want ...string) {
	s.t.Helper()
	got := slices.DeleteFunc(s.pods.owners(s), isProbe)
	assert.ElementsMatch(s.t, want, got, "the Ats that a pod was ever created for")
}

// recorded waits until the events about the At are these, each of them once.
func (s *env) recorded(name string, want ...string) {
	s.t.Helper()
	at := s.get(name)
	slices.Sort(want)
	s.eventually(fmt.Sprintf("%s to have the events %v", name, want), func(ctx context.Context) (any, bool) {
		got, err := s.events(ctx, at)
		if err != nil {
			return err, false
		}
		return got, slices.Equal(got, want)
	})
}

// events are the reasons of all events about the At.
func (s *env) events(ctx context.Context, at *cnat.At) ([]string, error) {
	all, err := s.client.EventsV1().Events(s.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var reasons []string
	for _, e := range all.Items {
		if e.Regarding.UID == at.UID { // kubectl describe looks for this, too
			reasons = append(reasons, inWords(&e, at))
		}
	}
	slices.Sort(reasons)
	return reasons, nil
}

// inWords is the type and the reason of an event, and what is wrong with it.
func inWords(e *eventsv1.Event, at *cnat.At) string {
	word := e.Type + " " + e.Reason
	if e.Regarding.Name != at.Name || e.Regarding.Kind != "At" || e.Regarding.APIVersion != cnat.SchemeGroupVersion.String() {
		word += fmt.Sprintf(" (regarding %+v)", e.Regarding)
	}
	if e.Note == "" || e.ReportingController == "" || e.Action == "" {
		word += fmt.Sprintf(" (not complete: %+v)", e)
	}
	if e.Series != nil || e.DeprecatedCount > 1 {
		word += " (recorded again)"
	}
	return word
}

// generation waits until all conditions are from that generation.
func (s *env) generation(name string, want int64) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("conditions of %s from generation %d", name, want), func(ctx context.Context) (any, bool) {
		at, err := s.ats.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err, false
		}
		conditions := at.Status.Conditions
		other := slices.ContainsFunc(conditions, func(c metav1.Condition) bool { return c.ObservedGeneration != want })
		return conditions, len(conditions) > 0 && !other
	})
}

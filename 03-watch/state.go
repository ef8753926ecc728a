package main

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// change is what is reported: a pod came, changed or went.
type change struct {
	Type watch.EventType
	Pod  *corev1.Pod
}

// state is what a client keeps to follow the pods: those that it has reported, and up to which
// version of the cluster. From that follows which request is next, and what is new in an answer.
//
//	            listed                    the watch ends: from the same version
//	LIST ───────────────────▶ WATCH from version ◀─┐
//	  ▲                          │             └───┘
//	  └──────────────────────────┘
//	   expired: 410 Gone, or an ERROR event
//
// It makes no request and reads no clock, so a test can put it through anything that a server
// may do. In client-go, known is the Store of a Reflector, and an informer lets you read it.
type state struct {
	version string // empty: list first
	known   map[cache.ObjectName]*corev1.Pod
}

func newState() *state { return &state{known: map[cache.ObjectName]*corev1.Pod{}} }

// mustList is true if the next request is a LIST. Otherwise it's a WATCH from s.version.
func (s *state) mustList() bool { return s.version == "" }

// listed takes the answer to a LIST. The first time, everything is new. Later, the list is compared
// with what was reported before: this is how a client learns, late but surely, what happened
// while it had no watch.
func (s *state) listed(list *corev1.PodList) []change {
	var changes []change
	missing := maps.Clone(s.known)
	for _, pod := range list.Items {
		delete(missing, cache.MetaObjectToName(&pod))
		changes = append(changes, s.present(&pod)...)
	}
	for _, pod := range missing {
		changes = append(changes, s.absent(pod)...)
	}
	s.version = list.ResourceVersion
	return changes
}

// heard takes an event of a WATCH. An error means that the watch is over, and that its version is
// no longer of use.
func (s *state) heard(event watch.Event) ([]change, error) {
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		s.expired()
		return nil, apierrors.FromObject(event.Object) // an ERROR holds a Status
	}
	s.version = pod.ResourceVersion
	switch event.Type {
	case watch.Added, watch.Modified:
		return s.present(pod), nil
	case watch.Deleted:
		return s.absent(pod), nil
	default: // a BOOKMARK: a version and nothing else, so that the version of a quiet watch stays young
		return nil, nil
	}
}

// expired forgets the version. What was reported stays known: the next list is compared with it.
func (s *state) expired() { s.version = "" }

// present returns what has changed if the pod exists in this form.
func (s *state) present(pod *corev1.Pod) []change {
	name := cache.MetaObjectToName(pod)
	before, known := s.known[name]
	s.known[name] = pod
	switch {
	case !known:
		return []change{{watch.Added, pod}}
	case before.UID != pod.UID:
		// The same name, but another pod: nobody told us that the old one was deleted.
		return []change{{watch.Deleted, before}, {watch.Added, pod}}
	case before.ResourceVersion == pod.ResourceVersion:
		return nil
	default:
		return []change{{watch.Modified, pod}}
	}
}

// absent returns what has changed if the pod, last seen in this form, no longer exists.
func (s *state) absent(pod *corev1.Pod) []change {
	name := cache.MetaObjectToName(pod)
	if _, known := s.known[name]; !known {
		return nil
	}
	delete(s.known, name)
	return []change{{watch.Deleted, pod}}
}

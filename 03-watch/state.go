package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// change is what is reported: an object came, changed or went.
type change struct {
	Type   watch.EventType `json:"type"`
	Object metav1.Object   `json:"object"`
}

// state is what a client must keep to follow a resource: which objects it has
// reported, and up to which version of the cluster. From that follows which request
// is next, and what is new in an answer.
//
//	            listed                    the watch ends: from the same version
//	LIST ───────────────────▶ WATCH from version ◀─┐
//	  ▲                          │             └───┘
//	  └──────────────────────────┘
//	   expired: 410 Gone, or an ERROR event
//
// It keeps each object as it was last reported, for a DELETED that no event reports: a
// Reflector's store does the same.
//
// It makes no request and reads no clock. So a test can put it through anything
// that a server may do.
type state struct {
	version string // empty: list first
	known   map[types.NamespacedName]metav1.Object
}

func newState() *state {
	return &state{known: map[types.NamespacedName]metav1.Object{}}
}

// mustList is true if the next request is a LIST. Otherwise it is a WATCH from
// s.version.
func (s *state) mustList() bool { return s.version == "" }

// listed takes the answer to a LIST. The first time, everything is new. After
// that the list is compared with what was reported before: this is how a client
// finds, late but surely, what happened while it had no watch.
func (s *state) listed(objects []metav1.Object, version string) []change {
	var changes []change
	missing := maps.Clone(s.known)
	for _, object := range objects {
		delete(missing, key(object))
		changes = append(changes, s.present(object)...)
	}
	for _, name := range slices.SortedFunc(maps.Keys(missing), byName) {
		changes = append(changes, s.absent(missing[name])...)
	}
	s.version = version
	return changes
}

// heard takes an event of a WATCH. An error means that the watch is over, and
// that the version is of no more use.
func (s *state) heard(event watch.Event) ([]change, error) {
	object, err := meta.Accessor(event.Object)
	switch {
	case event.Type == watch.Error:
		err = apierrors.FromObject(event.Object)
	case err == nil && object.GetResourceVersion() == "":
		err = errors.New("the server sent an event without a version")
	}
	if err != nil {
		s.expired()
		return nil, err
	}

	s.version = object.GetResourceVersion()
	switch event.Type {
	case watch.Added, watch.Modified:
		return s.present(object), nil
	case watch.Deleted:
		return s.absent(object), nil
	default:
		// A BOOKMARK. It has a version and nothing else, and keeps the version
		// of a quiet watch from growing old.
		return nil, nil
	}
}

// expired forgets the version. What was reported stays known, for the next list to
// be compared with.
func (s *state) expired() { s.version = "" }

// present returns what has changed if the object exists in this form.
func (s *state) present(object metav1.Object) []change {
	before, known := s.known[key(object)]
	s.known[key(object)] = object
	switch {
	case !known:
		return []change{{watch.Added, object}}
	case before.GetUID() != object.GetUID():
		// The same name, but another object: the old one was deleted unseen.
		return []change{{watch.Deleted, before}, {watch.Added, object}}
	case before.GetResourceVersion() == object.GetResourceVersion():
		return nil
	default:
		return []change{{watch.Modified, object}}
	}
}

// absent returns what has changed if the object, last seen in this form, does not
// exist any more.
func (s *state) absent(object metav1.Object) []change {
	if _, known := s.known[key(object)]; !known {
		return nil
	}
	delete(s.known, key(object))
	return []change{{watch.Deleted, object}}
}

func key(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

func byName(a, b types.NamespacedName) int {
	return strings.Compare(a.String(), b.String())
}

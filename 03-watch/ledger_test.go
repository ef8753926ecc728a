package main

import (
	"fmt"
	"maps"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// ledger believes what is reported to it, and nothing else. It is how the tests judge
// a program that reports changes: no change may contradict the ones before, and
// in the end the ledger must show what the server has.
type ledger struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]entry
	changes []change
	errs    []error
}

// entry is one form of one object.
type entry struct {
	uid     types.UID
	version string
}

func newLedger() *ledger { return &ledger{entries: map[types.NamespacedName]entry{}} }

// enter takes a change. It is a report for a follower.
func (l *ledger) enter(c change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = append(l.changes, c)
	if err := l.contradiction(c); err != nil {
		l.errs = append(l.errs, fmt.Errorf("change %d, %s %s: %w", len(l.changes), c.Type, key(c.Object), err))
	}
	if c.Type == watch.Deleted {
		delete(l.entries, key(c.Object))
	} else {
		l.entries[key(c.Object)] = entryOf(c.Object)
	}
	return nil
}

func (l *ledger) contradiction(c change) error {
	before, known := l.entries[key(c.Object)]
	switch {
	case c.Type == watch.Added && known:
		return fmt.Errorf("it is there already")
	case c.Type != watch.Added && !known:
		return fmt.Errorf("it is not there")
	case c.Type == watch.Modified && before.uid != c.Object.GetUID():
		return fmt.Errorf("it became another object")
	case c.Type == watch.Modified && before.version == c.Object.GetResourceVersion():
		return fmt.Errorf("nothing changed")
	}
	return nil
}

// present are the objects that should now be there.
func (l *ledger) present() map[types.NamespacedName]entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.entries)
}

// contradictions are the changes that cannot be true.
func (l *ledger) contradictions() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errs
}

// reported are the changes in words: ADDED a@3.
func (l *ledger) reported() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return inWords(l.changes)
}

func inWords(changes []change) []string {
	var words []string
	for _, c := range changes {
		words = append(words, fmt.Sprintf("%s %s@%s", c.Type, c.Object.GetName(), c.Object.GetResourceVersion()))
	}
	return words
}

func entryOf(object metav1.Object) entry {
	return entry{object.GetUID(), object.GetResourceVersion()}
}

package main

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// eventType is what has happened to an object.
type eventType string

// The four types of events, and a fifth for the metrics.
const (
	syncEvent    eventType = "Sync" // it exists: at the start, and at each resync
	addedEvent   eventType = "Added"
	updatedEvent eventType = "Updated"
	deletedEvent eventType = "Deleted"
	namesEvent   eventType = "Names" // a run of --names
)

// The queue holds the names of objects, and two tasks.
var (
	listedKey = cache.ObjectName{Name: "--names"}         // the server was listed: run --names
	resyncKey = cache.ObjectName{Name: "--resync-period"} // replay everything
)

// event is what has happened to an object since a command last ran for it. A queue of
// keys does not hold that. There are two parts, in this order: an object was deleted,
// and an object exists. A name that was deleted and created again has both.
type event struct {
	gone    *unstructured.Unstructured // what was deleted, in its last form
	present eventType                  // Sync, Added or Updated; empty: nothing
}

// then merges an event that is still pending with the next one. An object that was
// added and then changed is still new, so the first type stays. An object that came
// and went while the event was pending leaves no trace.
func (e event) then(next event) event {
	if next.gone != nil {
		e.present = ""
		if e.gone == nil {
			e.gone = next.gone
		}
	}
	if e.present == "" {
		e.present = next.present
	}
	return e
}

// pending are the events that no command has run for yet.
type pending struct {
	mu     sync.Mutex
	events map[cache.ObjectName]event
}

// add puts a new event behind the one that is pending for the same key.
func (p *pending) add(k cache.ObjectName, next event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events[k] = p.events[k].then(next)
}

// take removes the event, so that a command can run for it.
func (p *pending) take(k cache.ObjectName) event {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.events[k]
	delete(p.events, k)
	return e
}

// giveBack puts back what is left of the event. What has happened meanwhile comes
// behind it.
func (p *pending) giveBack(k cache.ObjectName, rest event) {
	if rest == (event{}) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events[k] = rest.then(p.events[k])
}

package main

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// key is what the queue holds: an object, or one of two tasks.
type key struct{ namespace, name, task string }

var (
	listedKey = key{task: "names"}  // the server was listed: run --names
	resyncKey = key{task: "resync"} // replay everything
)

// String is for logs.
func (k key) String() string {
	switch {
	case k.task != "":
		return "--" + k.task
	case k.namespace == "":
		return k.name
	default:
		return k.namespace + "/" + k.name
	}
}

func keyOf(object *unstructured.Unstructured) key {
	return key{namespace: object.GetNamespace(), name: object.GetName()}
}

// event is what has happened to an object since a command last ran for it. A queue of
// keys does not hold that. There are two parts, in this order: an object was deleted,
// and an object exists. A name that was deleted and created again has both.
type event struct {
	gone    *unstructured.Unstructured // what was deleted, in its last form
	present eventType                  // Sync, Added or Updated; empty: nothing
}

func (e event) empty() bool { return e == event{} }

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
	events map[key]event
}

// add puts a new event behind the one that is pending for the same key.
func (p *pending) add(k key, next event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events[k] = p.events[k].then(next)
}

// take removes the event, so that a command can run for it.
func (p *pending) take(k key) event {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.events[k]
	delete(p.events, k)
	return e
}

// giveBack puts back what is left of the event. What has happened meanwhile comes
// behind it.
func (p *pending) giveBack(k key, rest event) {
	if rest.empty() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events[k] = rest.then(p.events[k])
}

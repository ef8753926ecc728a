package observe

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// eventType is what a command is told has happened to an object.
type eventType string

// The four types of events.
const (
	syncEvent    eventType = "Sync"    // it is there: at the start, and at each resync
	addedEvent   eventType = "Added"   // it has come
	updatedEvent eventType = "Updated" // it has changed
	deletedEvent eventType = "Deleted" // it is no more
)

// key is what the queue holds: an object, or one of two chores.
type key struct{ namespace, name, chore string }

var (
	listedKey = key{chore: "names"}  // the server was listed: ask --names
	resyncKey = key{chore: "resync"} // the time has come to replay everything
)

// String is for logs.
func (k key) String() string {
	switch {
	case k.chore != "":
		return "--" + k.chore
	case k.namespace == "":
		return k.name
	default:
		return k.namespace + "/" + k.name
	}
}

func keyOf(object *unstructured.Unstructured) key {
	return key{namespace: object.GetNamespace(), name: object.GetName()}
}

// event is what is still to be told of an object. A queue of keys does not say
// what happened, so this does. There are two parts, and the first comes first:
// an object went, and an object is there. Of a name that was deleted and made
// again both are to be told.
type event struct {
	gone    *unstructured.Unstructured // what was deleted, in its last form
	present eventType                  // Sync, Added or Updated; empty: nothing to tell
}

func (e event) empty() bool { return e == event{} }

// then returns what is to be told when e was not told yet and next happens. An
// object that was added and then changed is still news, so the first type stays.
// Of what came and went untold in between, nobody needs to hear.
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

// pending are the events that wait.
type pending struct {
	mu     sync.Mutex
	events map[key]event
}

// add puts a new event behind the one that waits for the same key.
func (p *pending) add(k key, next event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events[k] = p.events[k].then(next)
}

// take removes the event, to be told.
func (p *pending) take(k key) event {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.events[k]
	delete(p.events, k)
	return e
}

// giveBack returns what of the event was not told. What has happened meanwhile
// comes behind it.
func (p *pending) giveBack(k key, rest event) {
	if rest.empty() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events[k] = rest.then(p.events[k])
}

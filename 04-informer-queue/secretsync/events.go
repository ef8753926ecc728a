package secretsync

import (
	"context"
	"fmt"
	"os"
	"sync"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/lru"
)

// events tell the owner of a secret something, where kubectl describe shows it.
// Each is told once, also across restarts: its name says what it is about, and
// the server refuses a second one of that name.
//
// client-go has a recorder for events, in tools/events. It sends in the
// background, drops what it cannot send, and counts how often it was told
// the same. Here an event is owed like any other write: when it cannot be
// written, the key is tried again.
type events struct {
	client   kubernetes.Interface
	instance string

	mu   sync.Mutex
	told *lru.Cache // names of events
}

// remembered is how many events are known to have been told. When there are more,
// the oldest is sent once more, and refused.
const remembered = 4096

// What is told, for people and for programs.
var (
	notes = map[action]string{
		collide: "the source %s/%s is not copied to here, because secretsync did not make this secret and leaves it alone; rename or delete one of the two",
		refuse:  "%s/%s is not copied, because it is the token of a service account; give the other namespace a service account of its own",
	}
	reasons = map[action]string{collide: "NameCollision", refuse: "NotCopied"}
)

func newEvents(client kubernetes.Interface) *events {
	instance, err := os.Hostname()
	if err != nil {
		instance = program
	}
	return &events{client: client, instance: instance, told: lru.New(remembered)}
}

// tell writes an event about the secret, and reports whether this is the first
// time. It has names and reasons in it, and no data.
func (e *events) tell(ctx context.Context, about, source *secret, d decision) (first bool, err error) {
	name := fmt.Sprintf("%s.%s.%s", program, about.UID, source.UID)
	if e.has(name) {
		return false, nil
	}
	_, err = e.client.EventsV1().Events(about.Namespace).Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: about.Namespace, Name: name},
		EventTime:           metav1.NowMicro(),
		ReportingController: program,
		ReportingInstance:   e.instance,
		Action:              "Copy",
		Type:                corev1.EventTypeWarning,
		Reason:              reasons[d.action],
		Regarding:           *reference(about),
		Related:             reference(source),
		Note:                fmt.Sprintf(notes[d.action], source.Namespace, source.Name),
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return false, fmt.Errorf("writing the event %s about the secret %s/%s: %w", reasons[d.action], about.Namespace, about.Name, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	first = !e.has(name) // another worker may have been faster
	e.told.Add(name, nil)
	return first, nil
}

func (e *events) has(name string) bool {
	_, told := e.told.Get(name)
	return told
}

func reference(s *secret) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: s.Namespace, Name: s.Name, UID: s.UID}
}

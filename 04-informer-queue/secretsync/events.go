package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// What an event says, to people and to programs.
var (
	notes = map[action]string{
		collide: "the source %s/%s is not copied to here, because secretsync did not make this secret and leaves it alone; rename or delete one of the two",
		refuse:  "%s/%s is not copied, because it is the token of a service account; give the other namespace a service account of its own",
	}
	reasons = map[action]string{collide: "NameCollision", refuse: "NotCopied"}
)

// record writes an event about a secret, where kubectl describe shows it to its owner.
// It has names and reasons in it, and no data. Its name is made of what it is about, so
// the server refuses a second one, also after a restart. The server forgets each after an
// hour (--event-ttl). What is still so then is recorded again: nobody would read it else.
//
// client-go has a recorder for events, in tools/events. It sends in the background,
// and drops what it cannot send. Here an event is written like anything else: when that
// fails, the key is tried again.
func (c *controller) record(ctx context.Context, key cache.ObjectName, d decision, about, source *secret) error {
	instance, _ := os.Hostname() // without one, the name of the program will do
	_, err := c.client.EventsV1().Events(about.Namespace).Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: about.Namespace, Name: fmt.Sprintf("%s.%s.%s", program, about.UID, source.UID)},
		EventTime:           metav1.NowMicro(),
		ReportingController: program,
		ReportingInstance:   cmp.Or(instance, program),
		Action:              "Copy",
		Type:                corev1.EventTypeWarning,
		Reason:              reasons[d.action],
		Regarding:           *reference(about),
		Related:             reference(source),
		Note:                fmt.Sprintf(notes[d.action], source.Namespace, source.Name),
	}, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil
	case err != nil:
		return fmt.Errorf("recording the event %s about the secret %s/%s: %w", reasons[d.action], about.Namespace, about.Name, err)
	}
	c.report(key, d)
	return nil
}

func reference(s *secret) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: s.Namespace, Name: s.Name, UID: s.UID}
}

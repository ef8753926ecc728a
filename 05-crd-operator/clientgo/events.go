package clientgo

import (
	"cmp"
	"context"
	"os"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// record writes an event about an At, where kubectl describe shows it. It may be lost,
// the status is not.
//
// client-go has a recorder for events, in tools/events. It sends in the background, and
// drops what it has not sent when the program ends.
func (c *controller) record(ctx context.Context, at *cnat.At, event *lifecycle.Event) {
	if event == nil {
		return
	}
	instance, _ := os.Hostname() // without one, the name of the operator will do
	_, err := c.kubeClient.EventsV1().Events(at.Namespace).Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: at.Namespace, GenerateName: at.Name + "-"},
		EventTime:           metav1.NowMicro(),
		ReportingController: lifecycle.Operator,
		ReportingInstance:   cmp.Or(instance, lifecycle.Operator),
		Action:              "RunCommand",
		Type:                event.Type,
		Reason:              event.Reason,
		Regarding: corev1.ObjectReference{APIVersion: cnat.SchemeGroupVersion.String(), Kind: "At", Namespace: at.Namespace, Name: at.Name, UID: at.UID,
			ResourceVersion: at.ResourceVersion},
		Note: event.Note,
	}, metav1.CreateOptions{})
	if err != nil {
		klog.FromContext(ctx).Error(err, "an event is lost", "at", klog.KObj(at), "reason", event.Reason, "note", event.Note)
	}
}

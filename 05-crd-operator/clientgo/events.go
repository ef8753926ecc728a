package clientgo

import (
	"context"
	"errors"
	"fmt"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned/scheme"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// events tell what was done, where kubectl describe shows it. The recorder of
// client-go sends them in the background. What it leaves to its user is the end:
// it says nothing about what is on its way, and would drop it. So each event
// takes a slot, and gives it back when it has been dealt with. When all slots are
// free, nothing is on its way.
type events struct {
	clientevents.EventSink // where the recorder writes to
	slots                  chan struct{}
	recorder               clientevents.EventRecorder
	broadcaster            clientevents.EventBroadcaster
	cancel                 context.CancelFunc
}

const (
	// onTheirWay is how many events may be on their way. The recorder would drop
	// what comes after the thousandth; here, whoever has one to tell waits.
	onTheirWay = 100
	// farewell is for how long the end waits for them.
	farewell = time.Second
)

// pauses are those between attempts to write an event, 13 seconds together.
var pauses = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Steps: 8}

// startEvents starts the recorder. It goes on when the context has ended, until
// stop is called: workers finish what they have in hand, and tell of it.
func startEvents(ctx context.Context, kube kubernetes.Interface) (*events, error) {
	e := &events{
		EventSink: &clientevents.EventSinkImpl{Interface: kube.EventsV1()},
		slots:     make(chan struct{}, onTheirWay),
	}
	e.broadcaster = clientevents.NewBroadcaster(e)
	e.recorder = e.broadcaster.NewRecorder(scheme.Scheme, lifecycle.Operator)
	ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := e.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		e.stop()
		return nil, fmt.Errorf("starting the event recorder: %w", err)
	}
	return e, nil
}

// tell writes an event about the At in the background.
func (e *events) tell(ctx context.Context, at *cnat.At, event *lifecycle.Event) {
	select {
	case e.slots <- struct{}{}:
		e.recorder.Eventf(at, nil, event.Type, event.Reason, "RunCommand", "%s", event.Note)
	case <-ctx.Done():
	}
}

// Create is called by the recorder to write an event. The recorder would try
// again by itself, and would not tell when it has given up; so that is done here.
func (e *events) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	defer func() { <-e.slots }()
	err := wait.ExponentialBackoffWithContext(ctx, pauses, func(ctx context.Context) (done bool, err error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, err = e.EventSink.Create(ctx, event)
		if answer := apierrors.APIStatus(nil); err == nil || errors.As(err, &answer) {
			return true, err
		}
		return false, nil // no answer: try again
	})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		klog.FromContext(ctx).Error(err, "an event is lost", "reason", event.Reason, "note", event.Note)
	}
	return event, nil
}

// stop waits a little for the events that are on their way, and ends the
// recorder. After that nothing must be told.
func (e *events) stop() {
	defer e.broadcaster.Shutdown()
	defer e.cancel()
	timeout := time.After(farewell)
	for range cap(e.slots) {
		select {
		case e.slots <- struct{}{}:
		case <-timeout:
			return
		}
	}
}

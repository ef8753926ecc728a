package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// decodeEvents reads events from the stream until it ends or the context does.
// Then it closes the first channel, and sends on the second why: io.EOF when the
// server ended the stream between two events, as it should.
func decodeEvents(ctx context.Context, stream io.Reader) (<-chan watch.Event, <-chan error) {
	events, errs := make(chan watch.Event), make(chan error, 1)
	go func() {
		defer close(events)
		decoder := json.NewDecoder(stream)
		for {
			event, err := decodeEvent(decoder)
			if err != nil {
				errs <- err
				return
			}
			select {
			case events <- event:
			case <-ctx.Done():
				errs <- ctx.Err()
				return
			}
		}
	}()
	return events, errs
}

// decodeEvent reads the next {"type": ..., "object": ...}. The type decides what
// the object is: with ERROR it is a Status, with all others a pod.
func decodeEvent(decoder *json.Decoder) (watch.Event, error) {
	var frame struct {
		Type   watch.EventType `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := decoder.Decode(&frame); err != nil {
		return watch.Event{}, err
	}
	var object runtime.Object = &corev1.Pod{}
	if frame.Type == watch.Error {
		object = &metav1.Status{}
	}
	if err := json.Unmarshal(frame.Object, object); err != nil {
		return watch.Event{}, fmt.Errorf("decoding a %s event: %w", frame.Type, err)
	}
	return watch.Event{Type: frame.Type, Object: object}, nil
}

// rawWatch makes the two channels of decodeEvents a watch.Interface.
type rawWatch struct {
	events <-chan watch.Event
	cancel context.CancelFunc
	closed chan struct{}
}

// ResultChan returns the channel of events. It is closed when the stream ends.
func (w *rawWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop ends the request and waits until nothing reads from it any more.
func (w *rawWatch) Stop() {
	w.cancel()
	<-w.closed
}

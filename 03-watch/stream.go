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

// rawWatch is a watch.Interface: a channel of events, and a way to end it.
type rawWatch struct {
	events <-chan watch.Event
	cancel context.CancelFunc
}

// ResultChan returns the channel. It's closed when the stream ends.
func (w *rawWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop ends the request, and waits until nothing reads its answer.
func (w *rawWatch) Stop() {
	w.cancel()
	for range w.events {
		continue // one may have been on its way
	}
}

// decodeEvents sends each event of the stream, and closes the channel when the stream ends: in good
// order, broken off, or with the context. A client does the same after each of them: it watches again.
func decodeEvents(ctx context.Context, stream io.ReadCloser) <-chan watch.Event {
	events := make(chan watch.Event)
	go func() {
		defer close(events)
		defer stream.Close()
		decoder := json.NewDecoder(stream)
		for {
			event, err := decodeEvent(decoder)
			if err != nil {
				return
			}
			select {
			case events <- event:
			case <-ctx.Done():
				return
			}
		}
	}()
	return events
}

// decodeEvent reads the next {"type": ..., "object": ...}. The type says what the object is: with
// ERROR it's a Status, with all others a pod.
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

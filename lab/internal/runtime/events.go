package runtime

import (
	"context"
	"sync"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// events tells subscribers when a container changes. The kubelet subscribes when
// its feature EventedPLEG is on; otherwise it looks at all containers each second.
type events struct {
	mu          sync.Mutex
	subscribers map[chan<- *runtimeapi.ContainerEventResponse]context.Context
}

// GetContainerEvents sends each change to ch until ctx ends.
func (s *Service) GetContainerEvents(ctx context.Context, ch chan *runtimeapi.ContainerEventResponse, connected func(runtimeapi.RuntimeService_GetContainerEventsClient)) error {
	s.events.mu.Lock()
	if s.events.subscribers == nil {
		s.events.subscribers = map[chan<- *runtimeapi.ContainerEventResponse]context.Context{}
	}
	s.events.subscribers[ch] = ctx
	s.events.mu.Unlock()
	if connected != nil {
		connected(nil)
	}
	select {
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	s.events.mu.Lock()
	delete(s.events.subscribers, ch)
	s.events.mu.Unlock()
	return ctx.Err()
}

// announce tells the subscribers what happened to a container.
func (s *Service) announce(c *container, kind runtimeapi.ContainerEventType) {
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	if len(s.events.subscribers) == 0 {
		return
	}
	b, err := s.sandbox(c.record.SandboxID)
	if err != nil {
		return // the pod is removed already
	}
	event := &runtimeapi.ContainerEventResponse{
		ContainerId:        c.record.ID,
		ContainerEventType: kind,
		CreatedAt:          time.Now().UnixNano(),
		PodSandboxStatus:   s.sandboxStatus(b),
	}
	for _, sibling := range s.containersOf(c.record.SandboxID) {
		event.ContainersStatuses = append(event.ContainersStatuses, sibling.status())
	}
	for ch, ctx := range s.events.subscribers {
		select {
		case ch <- event:
		case <-ctx.Done():
		case <-s.ctx.Done():
		}
	}
}

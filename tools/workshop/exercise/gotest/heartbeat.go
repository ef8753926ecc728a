package gotest

import (
	"sync/atomic"
	"time"
)

// A heartbeat says from time to time that something long goes on.
type heartbeat struct {
	now          atomic.Value // what is being done
	stop, ending chan struct{}
}

// beginHeartbeat calls say every so often, until end; say may be nil.
func beginHeartbeat(every time.Duration, say func(after time.Duration, doing string)) *heartbeat {
	h := &heartbeat{stop: make(chan struct{}), ending: make(chan struct{})}
	h.doing("compiling")
	if say == nil {
		close(h.ending)
		return h
	}
	go func() {
		defer close(h.ending)
		began, ticker := time.Now(), time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				say(time.Since(began).Round(time.Second), h.now.Load().(string))
			case <-h.stop:
				return
			}
		}
	}()
	return h
}

func (h *heartbeat) doing(what string) { h.now.Store(what) }

// end returns when nothing more will be said.
func (h *heartbeat) end() {
	close(h.stop)
	<-h.ending
}

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// gracePeriod is how long after the first signal the running child may go on. It is
// shorter than the 30 seconds that Kubernetes gives a pod, after which no process is
// left to kill the child.
const gracePeriod = 20 * time.Second

// signals returns two contexts. The first ends with the first Ctrl-C or SIGTERM:
// no child is started any more, and the one that runs may end. The second ends
// with the second signal, or after 20 seconds: that child is killed.
func signals() (stop, kill context.Context) {
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	stop, cancelStop := context.WithCancel(context.Background())
	kill, cancelKill := context.WithCancel(context.Background())
	go escalate(received, gracePeriod, cancelStop, cancelKill) // until the process ends
	return stop, kill
}

func escalate(signals <-chan os.Signal, grace time.Duration, stop, kill func()) {
	<-signals
	stop()
	select {
	case <-signals:
	case <-time.After(grace):
	}
	kill()
}

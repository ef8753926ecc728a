package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

// hopeless is how many restarts of one component make `lab up` give up: the
// backoff has then waited for half a minute.
const hopeless = 7

// watchForTrouble ends the waiting early when it can only be in vain.
func watchForTrouble(ctx context.Context, l layout.Layout, stop context.CancelCauseFunc) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := trouble(l); err != nil {
			stop(err)
			return
		}
	}
}

// wayOut is what helps where no restart will. After a power cut, etcd may have lost a part of what
// it has written (see LIMITS.md).
func wayOut(name string) string {
	if name != settings.Etcd {
		return ""
	}
	return "; after a power cut its data may be damaged, and then you can only start afresh, without what was in the cluster: lab reset"
}

// trouble returns the reason why the lab will not become usable, if there is one.
func trouble(l layout.Layout) error {
	pid, err := supervisor.PID(l)
	if err != nil {
		return err
	}
	state, err := supervisor.ReadState(l)
	return diagnose(l, pid, state, err)
}

// diagnose judges the process ID of the supervisor, 0 if there is none, and the state that was last
// written, or why it can't be read.
func diagnose(l layout.Layout, pid int, state supervisor.State, unread error) error {
	switch stopping := unread == nil && state.Stopping; {
	case pid == 0 && errors.Is(unread, fs.ErrNotExist), stopping && state.PID == pid:
		return errors.New("another command stops the lab: lab down or lab reset (to start it again: lab up)")
	case pid == 0 && stopping:
		return fmt.Errorf("the supervisor has ended, since another command has stopped the lab, or its log says why: %s", l.Log("supervisor"))
	case pid == 0:
		return fmt.Errorf("the supervisor has ended (its log: %s)", l.Log("supervisor"))
	case unread != nil || state.PID != pid:
		return nil // it has only just started
	}
	for name, c := range state.Components {
		if c.Taken != "" && c.PID == 0 {
			return fmt.Errorf("%s cannot run: %s", name, c.Taken)
		}
		if c.Restarts >= hopeless && time.Since(c.Started) < 2*time.Second {
			return fmt.Errorf("%s keeps ending (%s); its log: %s%s", name, c.LastExit, l.Log(name), wayOut(name))
		}
	}
	return nil
}

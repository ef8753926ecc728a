package cli

import (
	"context"
	"fmt"
	"time"

	"example.com/hacking-a-controller/lab/internal/layout"
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

// trouble returns the reason why the lab will not become usable, if there is one.
func trouble(l layout.Layout) error {
	pid, err := supervisor.PID(l)
	if err != nil {
		return err
	}
	if pid == 0 {
		return fmt.Errorf("the supervisor has ended (its log: %s)", l.Log("supervisor"))
	}
	state, err := supervisor.ReadState(l)
	if err != nil || state.PID != pid {
		return nil // it has only just started
	}
	for name, c := range state.Components {
		if c.Taken != "" && c.PID == 0 {
			return fmt.Errorf("%s cannot run: %s", name, c.Taken)
		}
		if c.Restarts >= hopeless && time.Since(c.Started) < 2*time.Second {
			return fmt.Errorf("%s keeps ending (%s); its log: %s", name, c.LastExit, l.Log(name))
		}
	}
	return nil
}

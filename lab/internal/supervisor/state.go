package supervisor

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"example.com/hacking-a-controller/lab/internal/layout"
)

// State is what the supervisor tells about its components. It is a file, so
// that `lab status` needs no connection to the supervisor.
type State struct {
	// PID of the supervisor that wrote this, which may be gone (see [PID]).
	PID        int                       `json:"pid"`
	Components map[string]ComponentState `json:"components"`
}

// ComponentState is one component as its supervisor sees it.
type ComponentState struct {
	// PID is 0 while the component is not running.
	PID int `json:"pid"`
	// Started is when the running process was started.
	Started time.Time `json:"started"`
	// Restarts counts the starts after the first.
	Restarts int `json:"restarts"`
	// LastExit says how the previous process ended: "signal: killed".
	LastExit string `json:"lastExit,omitempty"`
}

// ReadState reads what the last supervisor wrote.
func ReadState(l layout.Layout) (State, error) {
	var s State
	data, err := os.ReadFile(l.State())
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("reading %s: %w", l.State(), err)
	}
	return s, nil
}

// write replaces the file in one step.
func (s State) write(l layout.Layout) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	tmp := l.State() + ".new"
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, l.State())
}

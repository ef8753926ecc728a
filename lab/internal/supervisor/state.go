package supervisor

import (
	"time"

	"example.com/hacking-a-controller/lab/internal/jsonfile"
	"example.com/hacking-a-controller/lab/internal/layout"
)

// State is what the supervisor tells about its components. It is a file, so
// that `lab status` needs no connection to the supervisor.
type State struct {
	// PID of the supervisor that wrote this, which may be gone (see [PID]).
	PID int `json:"pid"`
	// Stopping is true once the supervisor was asked to end.
	Stopping   bool                      `json:"stopping,omitempty"`
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
	// Taken says which port of the component another program has, and what to do.
	Taken string `json:"taken,omitempty"`
	// Static is true when the kubelet runs the component, and not the supervisor.
	Static bool `json:"static,omitempty"`
	// Stopped is true when the component was stopped, and all that it had to do last
	// is done.
	Stopped bool `json:"stopped,omitempty"`
}

// ReadState reads what the last supervisor wrote.
func ReadState(l layout.Layout) (State, error) {
	var s State
	err := jsonfile.Read(l.State(), &s)
	return s, err
}

func (s State) write(l layout.Layout) error {
	return jsonfile.Write(l.State(), s)
}

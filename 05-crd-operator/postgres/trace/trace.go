// Package trace is a run of a PostgresCluster that was recorded: what its agents have observed and
// decided, what was written to the API server, and what clients were told. A test of package plan
// asks whether the model of the search could have done the same.
package trace

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/types"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// Event is a line of a trace. But for Time and Version, one of its fields is set.
type Event struct {
	Time time.Time `json:"time"`
	// Version is the resource version of what was written to the API server. They have one order,
	// and are seen after they were written.
	Version uint64   `json:"version,omitempty"`
	Agent   *Agent   `json:"agent,omitempty"`
	Cluster *Cluster `json:"cluster,omitempty"`
	Lease   *Lease   `json:"lease,omitempty"`
	Pod     *Pod     `json:"pod,omitempty"`
	Client  *Client  `json:"client,omitempty"`
}

// Agent is what an agent has observed, before anybody else learns of it, and its next step.
type Agent struct {
	View plan.View `json:"view"`
	Step plan.Step `json:"step,omitempty"`
}

// Cluster is the PostgresCluster.
type Cluster struct {
	Size    int32                          `json:"size"`
	Primary string                         `json:"primary,omitempty"`
	Status  postgres.PostgresClusterStatus `json:"status"`
}

// Lease is that of the cluster.
type Lease struct {
	Holder types.UID `json:"holder,omitempty"`
}

// Pod is that of a member.
type Pod struct {
	Name     string    `json:"name"`
	UID      types.UID `json:"uid"`
	Deleting bool      `json:"deleting,omitempty"`
	Ended    bool      `json:"ended,omitempty"`
	Gone     bool      `json:"gone,omitempty"`
}

// Client is how many commits clients have begun by now, or how many of them are acknowledged, or how
// many of these a member has.
type Client struct {
	Begun        int    `json:"begun,omitempty"`
	Acknowledged int    `json:"acknowledged,omitempty"`
	Member       string `json:"member,omitempty"`
	Reads        int    `json:"reads,omitempty"`
}

// Recorder writes down what an agent observes and decides, when it changes.
type Recorder struct {
	to   io.Writer
	last []byte
}

// NewRecorder returns one that writes a line at a time.
func NewRecorder(to io.Writer) *Recorder { return &Recorder{to: to} }

// Record writes a line. A nil Recorder does nothing.
func (r *Recorder) Record(view plan.View, step plan.Step) error {
	if r == nil {
		return nil
	}
	view.Status = Decisive(view.Status)
	s := view.Report
	view.Report = plan.Report{UID: s.UID, Term: s.Term, Data: s.Data, Running: s.Running, Writable: s.Writable, Timeline: s.Timeline, Following: s.Following, Names: s.Names, Streaming: s.Streaming, SyncedWith: s.SyncedWith, Kept: s.Kept}
	if s.Unreachable.Lasts() {
		view.Report.Unreachable = s.Unreachable
	}
	agent := &Agent{View: view, Step: step}
	now, err := json.Marshal(agent)
	if err != nil || bytes.Equal(now, r.last) {
		return err
	}
	r.last = now
	line, err := json.Marshal(Event{Time: time.Now(), Agent: agent})
	if err == nil {
		_, err = r.to.Write(append(line, '\n'))
	}
	return err
}

// Decisive is what a decision may depend on of a status.
func Decisive(s postgres.PostgresClusterStatus) postgres.PostgresClusterStatus {
	return postgres.PostgresClusterStatus{
		Phase: s.Phase, Term: s.Term, Primary: s.Primary, PrimaryUID: s.PrimaryUID, Standby: s.Standby,
		Synced: s.Synced, SyncedBefore: s.SyncedBefore, Lost: s.Lost, Restore: s.Restore,
	}
}

package plan

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// SelectorLabel is the label of a member's pod and disk. Its value is the cluster's name.
const SelectorLabel = postgres.GroupName + "/cluster"

// RoleLabel is the label of a member's pod that says what it does.
const RoleLabel = postgres.GroupName + "/role"

// LSN is a position in PostgreSQL's log of changes.
type LSN uint64

// String prints it as PostgreSQL does.
func (l LSN) String() string { return fmt.Sprintf("%X/%X", uint32(l>>32), uint32(l)) }

// Data is what is on a member's disk.
type Data string

// The states of a member's data.
const (
	Empty    Data = "empty"    // nothing, or a copy that is not complete
	Complete Data = "complete" // a database
)

// Report is what a member says about itself, on /status. Its loop writes the report; if the loop
// hangs, /status has to fail, so that the member counts as silent.
type Report struct {
	UID       types.UID `json:"uid"`       // of its pod
	Term      int64     `json:"term"`      // of the newest status that it has acted on
	Version   string    `json:"version"`   // of PostgreSQL, such as 17.6
	Address   string    `json:"address"`   // where PostgreSQL listens
	Data      Data      `json:"data"`      //
	Running   bool      `json:"running"`   // PostgreSQL answers
	Writable  bool      `json:"writable"`  // it takes writes, or may: false only if it recovers or has ended
	Timeline  int32     `json:"timeline"`  // the newest that its disk knows, which is not always the one that it is on
	Received  LSN       `json:"received"`  // how much of the log is on its disk
	Following string    `json:"following"` // the member that it receives from, if that is still at the address in use
	// Names is its synchronous_standby_names, once that is in force: in a new session, in the
	// processes that send to standbys, and for every commit that is under way.
	Names     string   `json:"names"`
	Streaming []string `json:"streaming"` // the standbys that receive from it
	// SyncedWith is the standby in Names, if it streams and has flushed all of the log that was
	// there at a moment when this member took writes, Names was in force, and the standby had the
	// connection that it has now. What was acknowledged without this standby, or before it lost
	// what it had, came before that moment.
	SyncedWith string `json:"syncedWith"`

	// Asynchronous is why commits were acknowledged that may be on its disk only, and what to do
	// about that. It is reported until the standby has all of them.
	Asynchronous string `json:"asynchronous,omitempty"`
	// Alone is whether that is about all commits, and the standby may lack some still.
	Alone bool `json:"alone,omitempty"`
	// Unreachable is why no new client can connect to it, or nil if one can.
	Unreachable *Unreachable `json:"unreachable,omitempty"`
	// InvalidPasswords are the roles whose passwords, as its files have them, cannot be used.
	InvalidPasswords []string `json:"invalidPasswords,omitempty"`

	Full     bool      `json:"full,omitempty"`     // its disk is nearly full
	Kept     []string  `json:"kept,omitempty"`     // the folders of databases that it keeps beside its own
	Trouble  string    `json:"trouble,omitempty"`  // why its last step has failed
	Restored *Restored `json:"restored,omitempty"` // what its database was made of, if it was restored
	Archive  *Archive  `json:"archive,omitempty"`  // what is in the archive, as the primary sees it
}

// Restored is what a database was made of.
type Restored struct {
	Base   string    `json:"base"`            // the base backup
	At     LSN       `json:"at"`              // the end of the log that was applied
	Commit time.Time `json:"commit,omitzero"` // the last commit in that log
}

// Archive is what is on the disk of the backups.
type Archive struct {
	First time.Time `json:"first,omitzero"` // when the oldest base backup was complete
	Last  time.Time `json:"last,omitzero"`  // when the newest one was
	Bytes int64     `json:"bytes"`          // how large that is
	// Until is when all that was acknowledged was in the archive.
	Until   time.Time `json:"until,omitzero"`
	Failure string    `json:"failure,omitempty"` // why the log is not archived, or not read
}

// View is everything that a member's next step depends on.
type View struct {
	Name string
	UID  types.UID
	// Status is the newest that it has seen. The first is read live, for an old one could have it
	// make a second database, and from then on it never goes back to an older one.
	Status postgres.PostgresClusterStatus
	// HoldsLease is whether it has renewed the Lease lately enough.
	HoldsLease bool
	Report     Report
	// Diverged is whether its log has what that of the primary has not, or belongs to another
	// database. Only the pod in Status.PrimaryUID can tell, and only while it takes writes.
	Diverged bool
}

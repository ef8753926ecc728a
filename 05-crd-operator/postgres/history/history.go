// Package history judges what the clients of a database have seen: whether a commit that was
// acknowledged is lost, whether a read was old that must not be, and whether there were two
// primaries.
//
// Clients append values to lists, and read lists. No value is appended twice, so a list that was
// read shows which transactions came before, and in which order. That is the idea of Elle
// (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations",
// 2020), and so are the names of most anomalies. Porcupine, the other judge of this kind, searches
// for an order of the operations that explains them. This one needs no search: the lists are the order.
//
//	history.go  what is recorded, and the file that it is in
//	judge.go    what each list says by itself
//	cycle.go    what no order of the transactions explains
//	report.go   an anomaly, for people
//
// What a PostgresCluster promises, and this judge checks, depends on where a transaction ran:
//
//   - At the primary, with an append, acknowledged: it lasts, and so does all that it has read. All
//     such transactions are strictly serializable.
//   - At the primary, without an append: it has seen everything that was acknowledged before it began.
//     It may also have seen a commit that was not acknowledged, and that one may be lost: a client
//     that gives up lets a commit be seen that still waited for a standby, and so does a crash.
//   - At a standby: a list may be old, and may end with commits that were not acknowledged. It is
//     never anything else.
//   - In the end: all members have the same.
package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// History is what clients have seen.
type History struct {
	Transactions []Transaction
	// LossAllowed is when a person allowed that data are lost. What was acknowledged until then
	// may be lost, and nothing that came later.
	LossAllowed []time.Duration
}

// Transaction is one attempt of a client. All times are since the beginning, by one clock.
type Transaction struct {
	Client  string        `json:"client"`
	Source  Source        `json:"source"`
	Begin   time.Duration `json:"begin"`
	End     time.Duration `json:"end"`
	Outcome Outcome       `json:"outcome"`
	// The PostgreSQL that it ran on, and the timeline of that, if the client got to know them.
	Server   string `json:"server,omitempty"`
	Timeline string `json:"timeline,omitempty"`
	Ops      []Op   `json:"ops"`
}

// Op appends a value to a list, or reads the list.
type Op struct {
	Key    int   `json:"key"`
	Append int   `json:"append,omitempty"` // 0 if it reads
	List   []int `json:"list,omitempty"`
}

// Source is where a transaction ran.
type Source string

// The sources.
const (
	Primary Source = "primary" // at the isolation level SERIALIZABLE
	Standby Source = "standby"
	Final   Source = "final" // a member, when nothing goes on any more. It reads all lists
)

// Outcome is what a client knows of its transaction.
type Outcome string

// The outcomes.
const (
	OK      Outcome = "ok"      // acknowledged: no error, and no warning
	Failed  Outcome = "failed"  // it surely was not committed
	Unknown Outcome = "unknown" // a commit without an answer, or with a warning
)

func (t Transaction) appends() bool {
	return slices.ContainsFunc(t.Ops, func(op Op) bool { return op.Append != 0 })
}

// line is one of the file: a transaction, or a permission.
type line struct {
	*Transaction
	LossAllowed time.Duration `json:"lossAllowed,omitempty"`
}

// Write writes a history, as lines of JSON.
func (h History) Write(w io.Writer) error {
	lines := json.NewEncoder(w)
	for _, at := range h.LossAllowed {
		if err := lines.Encode(line{LossAllowed: at}); err != nil {
			return err
		}
	}
	for _, t := range h.Transactions {
		if err := lines.Encode(line{Transaction: &t}); err != nil {
			return err
		}
	}
	return nil
}

// Read reads what Write has written.
func Read(r io.Reader) (History, error) {
	var h History
	lines := json.NewDecoder(bufio.NewReader(r))
	for n := 1; ; n++ {
		var l line
		switch err := lines.Decode(&l); {
		case err == io.EOF:
			return h, nil
		case err != nil:
			return h, fmt.Errorf("entry %d of the history: %w", n, err)
		case l.Transaction != nil:
			h.Transactions = append(h.Transactions, *l.Transaction)
		default:
			h.LossAllowed = append(h.LossAllowed, l.LossAllowed)
		}
	}
}

package permissions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Log is what one service account asked for, as audit logs tell it.
type Log struct {
	Account Account
	// Uses says for each different request how often it was made.
	Uses map[Request]Use
	// Requests is how many there were, and First and Last are when.
	Requests    int
	First, Last time.Time

	seen map[stage]bool
}

// Use is what became of requests that are all alike.
type Use struct {
	Allowed, Refused int
	// By is why it was allowed, in the words of the authorizer.
	By string
}

// stage makes one of the two events that the log has for a long request, such as
// a watch: one when it begins, one when it ends. A client may choose the ID.
type stage struct {
	id string
	Request
}

// NewLog returns a log without requests.
func NewLog(account Account) *Log {
	return &Log{Account: account, Uses: map[Request]Use{}, seen: map[stage]bool{}}
}

// Read adds the account's requests in a file of the audit log, which is one JSON object
// after the other. All other events are passed over. The last may be half an object: the
// server may be writing it.
func (l *Log) Read(file io.Reader) error {
	decoder := json.NewDecoder(file)
	for number := 1; ; number++ {
		var e event
		err := decoder.Decode(&e)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return fmt.Errorf("event %d: %w", number, err)
		case e.Kind != "Event" || e.APIVersion != "audit.k8s.io/v1":
			return fmt.Errorf("event %d: not of audit.k8s.io/v1; give the file that the API server's --audit-log-path names", number)
		}
		l.add(e)
	}
}

func (l *Log) add(e event) {
	answers := e.answers()
	known := stage{e.AuditID, e.request()}
	if e.user() != l.Account.user() || len(answers) == 0 || l.seen[known] {
		return
	}
	l.seen[known] = true
	l.Requests++
	when := e.RequestReceivedTimestamp
	if l.First.IsZero() || when.Before(l.First) {
		l.First = when
	}
	if when.After(l.Last) {
		l.Last = when
	}
	for _, a := range answers {
		use := l.Uses[a.Request]
		if a.allowed {
			use.Allowed++
			use.By = a.by
		} else {
			use.Refused++
		}
		l.Uses[a.Request] = use
	}
}

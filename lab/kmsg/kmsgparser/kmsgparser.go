// Package kmsgparser takes the place of github.com/euank/go-kmsg-parser (see
// the replace directive in the lab's go.mod).
//
// The kubelet reads the kernel's log to report processes that the kernel killed
// for want of memory, and exits when it may not read it, which an unprivileged
// user may not. This parser opens nothing and reports nothing, so the lab's
// kubelet runs for everybody.
package kmsgparser

import "time"

// Parser yields the messages of the kernel.
type Parser interface {
	SeekEnd() error
	Parse() <-chan Message
	SetLogger(Logger)
	Close() error
}

// Message is a line of the kernel's log.
type Message struct {
	Priority       int
	SequenceNumber int
	Timestamp      time.Time
	Message        string
}

// Logger is told of lines that do not parse.
type Logger interface {
	Warningf(string, ...any)
	Infof(string, ...any)
	Errorf(string, ...any)
}

// NewParser never fails.
func NewParser() (Parser, error) {
	return silent{}, nil
}

// silent is a log in which nothing is ever written.
type silent struct{}

func (silent) SeekEnd() error        { return nil }
func (silent) Parse() <-chan Message { return make(chan Message) }
func (silent) SetLogger(Logger)      {}
func (silent) Close() error          { return nil }

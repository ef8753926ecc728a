// Package lines lets several print at the same time, a whole line at once.
package lines

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Last returns the last lines of a text, at most most of them, and how many are before
// these.
func Last(text string, most int) (last string, before int) {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	before = max(0, len(all)-most)
	return strings.Join(all[before:], "\n"), before
}

// A Writer writes whole lines, each with something before it, so that two who print at
// the same time can be told apart.
type Writer struct {
	out    io.Writer
	prefix string

	mu   sync.Mutex
	rest []byte // of a line that has not ended
	last string // the last line that has ended
}

// New returns a writer to out, where a Write of one line must not mix with another.
func New(out io.Writer, prefix string) *Writer { return &Writer{out: out, prefix: prefix} }

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, b...)
	end := 1 + bytes.LastIndexByte(w.rest, '\n')
	if end == 0 {
		return len(b), nil
	}
	var whole bytes.Buffer
	for line := range bytes.Lines(w.rest[:end]) {
		whole.WriteString(w.prefix + string(line))
		w.last = string(bytes.TrimSuffix(line, []byte("\n")))
	}
	w.rest = w.rest[end:]
	if _, err := w.out.Write(whole.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Last returns the last whole line that was written, without the prefix.
func (w *Writer) Last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Flush ends a line that has no end.
func (w *Writer) Flush() {
	w.mu.Lock()
	unfinished := len(w.rest) > 0
	w.mu.Unlock()
	if unfinished {
		_, _ = w.Write([]byte("\n"))
	}
}

// A Locked writer may be written to by several.
type Locked struct {
	mu  sync.Mutex
	out io.Writer
}

// NewLocked returns one that writes to out.
func NewLocked(out io.Writer) *Locked { return &Locked{out: out} }

// Write implements io.Writer.
func (l *Locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

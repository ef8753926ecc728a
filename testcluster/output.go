package testcluster

import (
	"bytes"
	"strings"
	"sync"
)

// Output is what a program has printed. A test may read it while the program writes.
type Output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write adds to what was printed.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

// String is all that was printed since the last Take.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}

// Lines are its lines.
func (o *Output) Lines() []string {
	return strings.Split(strings.TrimSuffix(o.String(), "\n"), "\n")
}

// Take returns what was printed since the last time.
func (o *Output) Take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.buffer.Reset()
	return o.buffer.String()
}

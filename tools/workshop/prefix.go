package main

import (
	"bytes"
	"io"
	"sync"
)

// A prefix writes whole lines, each with something before it, so that two who print at
// the same time can be told apart.
type prefix struct {
	out    io.Writer
	prefix string

	mu   sync.Mutex
	rest []byte // of a line that has not ended
}

// Write implements io.Writer.
func (p *prefix) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = append(p.rest, b...)
	for {
		end := bytes.IndexByte(p.rest, '\n')
		if end < 0 {
			return len(b), nil
		}
		if err := p.line(p.rest[:end]); err != nil {
			return 0, err
		}
		p.rest = p.rest[end+1:]
	}
}

// flush writes what has no end.
func (p *prefix) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.rest) > 0 {
		_ = p.line(p.rest)
		p.rest = nil
	}
}

// line writes a line at once, so that no other one gets into it.
func (p *prefix) line(text []byte) error {
	_, err := p.out.Write([]byte(p.prefix + string(text) + "\n"))
	return err
}

// A locked writer may be written to by several.
type locked struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements io.Writer.
func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

package shim

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// maxChunk is the longest piece of output in one line of the log.
const maxChunk = 16 << 10

// timeFormat has a fixed width, so that lines also sort as text.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// logFile writes the CRI log format, which the kubelet reads:
//
//	TIME stdout F a whole line
//	TIME stdout P the beginning of a line
//
// A line that is not complete is written at once, or nobody would see a prompt.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
}

func openLog(path string) (*logFile, error) {
	l := &logFile{path: path}
	return l, l.reopen()
}

// reopen is called after the kubelet has renamed the file to rotate it.
func (l *logFile) reopen() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return fmt.Errorf("opening the container's log: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
	}
	l.file = file
	return nil
}

// copyFrom logs all that r gives. It keeps reading when the log cannot be
// written, because a container must not hang on a full disk.
func (l *logFile) copyFrom(stream string, r io.Reader) {
	chunk := make([]byte, maxChunk)
	failed := false
	for {
		n, err := r.Read(chunk)
		if n > 0 {
			if err := l.write(stream, chunk[:n]); err != nil && !failed {
				failed = true
				fmt.Fprintln(os.Stderr, "writing the container's log:", err)
			}
		}
		if err != nil {
			return // the end; a terminal reports it as an I/O error
		}
	}
}

func (l *logFile) write(stream string, chunk []byte) error {
	now := time.Now().UTC().Format(timeFormat)
	var out bytes.Buffer
	for len(chunk) > 0 {
		line, rest, whole := bytes.Cut(chunk, []byte("\n"))
		tag := "P"
		if whole {
			tag = "F"
		}
		fmt.Fprintf(&out, "%s %s %s %s\n", now, stream, tag, line)
		chunk = rest
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.file.Write(out.Bytes())
	return err
}

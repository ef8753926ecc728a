package runtime

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// Attach connects a client to a running container. What the client types goes
// into the FIFO that is the container's input. What the container writes is read
// from its log, from now on.
func (s streams) Attach(ctx context.Context, id string, in io.Reader, out, errOut io.WriteCloser, _ bool, resize <-chan remotecommand.TerminalSize) error {
	c, err := s.running(id)
	if err != nil {
		return err
	}
	log, err := openAtEnd(c.record.LogPath)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if in != nil && c.config.Stdin {
		if err := c.attachStdin(in); err != nil {
			return err
		}
	}
	var resizing sync.WaitGroup
	defer resizing.Wait()
	defer cancel()
	resizing.Go(func() {
		follow(ctx, resize, func(size remotecommand.TerminalSize) {
			_ = c.tell("resize %d %d", size.Width, size.Height)
		})
	})
	return log.follow(ctx, c.done, writer(out), writer(errOut))
}

// attachStdin copies a client's input to the container until the client leaves.
func (c *container) attachStdin(in io.Reader) error {
	fifo, err := c.openFIFO(shim.StdinFIFO)
	if err != nil {
		return err
	}
	go func() { // ends with the client's connection or the container's input
		copyInput(fifo, in)
		if c.config.StdinOnce {
			_ = c.tell("close-stdin")
		}
	}()
	return nil
}

// logPoll is how often a log is looked at for more.
const logPoll = 20 * time.Millisecond

// logReader reads a container's log as it is written.
type logReader struct {
	path string
	file *os.File
	r    *bufio.Reader
	part []byte // the beginning of a line that is not complete yet
}

func openAtEnd(path string) (*logReader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the container's log: %w", err)
	}
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &logReader{path: path, file: file, r: bufio.NewReader(file)}, nil
}

func (l *logReader) Close() error { return l.file.Close() }

// follow writes what is logged until the container is done and all is read.
func (l *logReader) follow(ctx context.Context, done <-chan struct{}, out, errOut io.Writer) error {
	tick := time.NewTicker(logPoll)
	defer tick.Stop()
	for {
		ended := false
		select {
		case <-done:
			ended = true
		default:
		}
		rotated := l.rotated()
		if err := l.drain(out, errOut); err != nil {
			return nil // the client is gone
		}
		if rotated && l.reopen() == nil {
			continue
		}
		if ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-done:
		}
	}
}

// rotated reports whether the path leads to another file by now.
func (l *logReader) rotated() bool {
	have, err := l.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(l.path)
	return err == nil && !os.SameFile(have, now)
}

func (l *logReader) reopen() error {
	file, err := os.Open(l.path)
	if err != nil {
		return err
	}
	_ = l.file.Close()
	l.file, l.part = file, nil
	l.r.Reset(file)
	return nil
}

// drain writes all complete lines that are in the log now.
func (l *logReader) drain(out, errOut io.Writer) error {
	for {
		piece, err := l.r.ReadBytes('\n')
		l.part = append(l.part, piece...)
		if err != nil {
			return nil // the end, for now
		}
		line := l.part
		l.part = nil
		if err := writeEntry(line, out, errOut); err != nil {
			return err
		}
	}
}

// writeEntry undoes the CRI log format: TIME STREAM TAG TEXT.
func writeEntry(line []byte, out, errOut io.Writer) error {
	fields := bytes.SplitN(line, []byte(" "), 4)
	if len(fields) < 4 {
		return nil
	}
	stream, tag, text := string(fields[1]), string(fields[2]), fields[3]
	if tag == "P" {
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	to := out
	if stream == "stderr" {
		to = errOut
	}
	if to == nil {
		return nil
	}
	_, err := to.Write(text)
	return err
}

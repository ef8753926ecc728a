package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// A display shows a status that changes. On a terminal it is one line that is
// written again and again; in a log it is a line every ten seconds.
type display struct {
	out      io.Writer
	terminal bool
	every    time.Duration
	now      func() time.Time

	shown string
	last  time.Time
}

func newDisplay(out io.Writer, terminal bool) *display {
	return &display{out: out, terminal: terminal, every: 10 * time.Second, now: time.Now, last: time.Now()}
}

// clearLine takes the cursor to the start of the line and wipes it.
const clearLine = "\r\x1b[K"

// Show makes the status known.
func (d *display) Show(status string) {
	if status == d.shown {
		return
	}
	if d.terminal {
		d.shown = status
		fmt.Fprint(d.out, clearLine+status)
		return
	}
	if now := d.now(); now.Sub(d.last) >= d.every {
		d.shown, d.last = status, now
		fmt.Fprintln(d.out, status)
	}
}

// Print prints a line to stay, and keeps the status below it.
func (d *display) Print(line string) {
	status := d.shown
	d.Clear()
	fmt.Fprintln(d.out, line)
	if d.terminal && status != "" {
		d.Show(status)
	}
}

// Clear wipes the status from the terminal.
func (d *display) Clear() {
	if d.terminal && d.shown != "" {
		fmt.Fprint(d.out, clearLine)
	}
	d.shown = ""
}

// isTerminal reports whether a person watches. TERM=dumb is a terminal that
// cannot wipe a line.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
}

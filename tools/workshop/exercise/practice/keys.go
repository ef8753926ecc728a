package practice

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"unicode"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// keys reads one key each time that somebody asks, so that nobody reads what an editor is to
// read. In a terminal each key counts at once. Elsewhere it is the first of a line.
func keys(in io.Reader, lines bool) (ask func(), pressed <-chan rune) {
	asked, keys := make(chan struct{}, 1), make(chan rune)
	go func() {
		defer close(keys)
		reader := bufio.NewReader(in)
		if !lines {
			reader = bufio.NewReaderSize(oneByte{in}, 16)
		}
		for range asked {
			key, _, err := reader.ReadRune()
			if err != nil {
				return
			}
			switch {
			case lines && key != '\n':
				_, _ = reader.ReadString('\n')
			case !lines && pasted(in):
				key = 0
			}
			keys <- unicode.ToLower(key)
		}
	}()
	return func() {
		select {
		case asked <- struct{}{}:
		default:
		}
	}, keys
}

// most is how many keys fingers press before somebody reads the first.
const most = 2

// pasted says whether more has come with a key than fingers press: text that was meant for a shell, or an arrow.
// It takes that away.
func pasted(in io.Reader) bool {
	if !isTerminal(in) {
		return false
	}
	file := in.(*os.File)
	waiting, err := unix.IoctlGetInt(int(file.Fd()), inputWaiting)
	if err != nil || waiting < most {
		return false
	}
	_, _ = io.CopyN(io.Discard, file, int64(waiting))
	return true
}

// oneByte reads no more than is needed now.
type oneByte struct{ io.Reader }

func (r oneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:1]) }

// A terminal is one whose keys count at once. Ctrl-C stays a signal.
type terminal struct {
	file  *os.File
	saved *term.State

	mu    sync.Mutex
	keyed bool // each key counts
}

// openTerminal returns no terminal if the file is none. After Ctrl-Z the shell has its own settings there:
// when this program goes on, as long as it runs, it makes each key count again.
func openTerminal(file *os.File) *terminal {
	saved, err := term.GetState(int(file.Fd()))
	if err != nil {
		return nil
	}
	t := &terminal{file: file, saved: saved}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	go func() {
		for range continued {
			t.mu.Lock()
			if t.keyed {
				t.set()
			}
			t.mu.Unlock()
		}
	}()
	return t
}

// byKey makes each key count at once, and not appear.
func (t *terminal) byKey() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keyed = true
	t.set()
}

// set does it. term.MakeRaw does more: with it, Ctrl-C is no signal, and a program that prints lines
// prints stairs.
func (t *terminal) set() {
	if !t.inForeground() {
		return // with fg, SIGCONT comes again
	}
	settings, err := unix.IoctlGetTermios(int(t.file.Fd()), getSettings)
	if err != nil {
		return // it was closed
	}
	settings.Lflag &^= unix.ICANON | unix.ECHO
	settings.Cc[unix.VMIN], settings.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(int(t.file.Fd()), setSettings, settings)
}

// restore makes it what it was before.
func (t *terminal) restore() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keyed = false
	if t.inForeground() {
		_ = term.Restore(int(t.file.Fd()), t.saved)
	}
}

// inForeground says whether the terminal is this program's now: one in the background that changes it is stopped.
func (t *terminal) inForeground() bool {
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

package practice

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"unicode"
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
			if lines && key != '\n' {
				_, _ = reader.ReadString('\n')
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

// oneByte reads no more than is needed now.
type oneByte struct{ io.Reader }

func (r oneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:1]) }

// A terminal is one whose keys count at once. Ctrl-C stays a signal.
type terminal struct {
	file  *os.File
	saved string // as stty prints it
}

// openTerminal returns no terminal if the file is none.
func openTerminal(ctx context.Context, file *os.File) *terminal {
	t := &terminal{file: file}
	saved, err := t.stty(ctx, "-g")
	if t.saved = strings.TrimSpace(saved); err != nil || t.saved == "" {
		return nil
	}
	return t
}

func (t *terminal) stty(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "stty", args...)
	command.Stdin = t.file
	output, err := command.Output()
	return string(output), err
}

// byKey makes each key count at once, and not appear.
func (t *terminal) byKey(ctx context.Context) {
	if t != nil {
		_, _ = t.stty(ctx, "-icanon", "-echo", "min", "1", "time", "0")
	}
}

// restore makes it what it was before.
func (t *terminal) restore() {
	if t != nil {
		_, _ = t.stty(context.Background(), t.saved)
	}
}

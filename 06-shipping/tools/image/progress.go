package image

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// progress reads what go build -v says: the path of each package when it is
// compiled, and what is wrong. It passes on how far the work is.
type progress struct {
	out         io.Writer
	now         func() time.Time
	start, last time.Time

	unread   []byte // the start of a line
	packages int
	trouble  []string
}

// pause is the time between two lines about progress.
const pause = 5 * time.Second

func newProgress(out io.Writer) *progress {
	now := time.Now()
	return &progress{out: out, now: time.Now, start: now, last: now}
}

func (p *progress) Write(text []byte) (int, error) {
	p.unread = append(p.unread, text...)
	for {
		line, rest, whole := bytes.Cut(p.unread, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		p.unread = rest
		p.read(string(line))
	}
}

func (p *progress) read(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
	case strings.ContainsAny(line, " \t"): // no package's path has any
		p.trouble = append(p.trouble, line)
	default:
		p.packages++
	}
	if now := p.now(); now.Sub(p.last) >= pause {
		p.last = now
		fmt.Fprintf(p.out, "  %d packages compiled, %s\n", p.packages, now.Sub(p.start).Round(time.Second))
	}
}

// explain returns what go build complained about.
func (p *progress) explain(err error) error {
	if len(p.trouble) == 0 {
		return fmt.Errorf("go build: %w", err)
	}
	return errors.New("go build:\n" + strings.Join(p.trouble, "\n"))
}

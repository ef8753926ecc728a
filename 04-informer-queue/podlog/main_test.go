package podlog

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/internal/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// program is the whole program, with its command line.
func program(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run(ctx, Command(), args, stdout, stderr)
}

// log is an output that can be read while it is written.
type log struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(p)
}

func (l *log) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSuffix(l.buffer.String(), "\n"), "\n")
}

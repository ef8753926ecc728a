package lesson

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// A fetcher fetches and compiles what lessons compile, each module once. The network of a
// lesson leads nowhere, and compiling Kubernetes is not what a block has its time for.
type fetcher struct {
	mu   sync.Mutex // one at a time: two would compile the same
	done []string
}

// fetchTimeout is for all modules of a lesson. OLM takes minutes to compile.
const fetchTimeout = 30 * time.Minute

// fetch does so for a lesson. What it cannot fetch it prints: the lesson shows whether that is
// missed.
func (f *fetcher) fetch(ctx context.Context, in *inputs, l Lesson, out io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	for _, folder := range in.modules(l) {
		if slices.Contains(f.done, folder) {
			continue
		}
		f.done = append(f.done, folder)
		args := []string{"list", "-deps", "-export", "-f", "{{/* nothing */}}"}
		if strings.HasPrefix(folder, l.Stage.Folder) {
			args = append(args, "-test")
		}
		fmt.Fprintf(out, "%s: compiling what %s needs\n", l.Ref, folder)
		if _, err := in.goCommand(ctx, folder, append(args, "./...", "tool")...); err != nil && ctx.Err() == nil {
			fmt.Fprintln(out, err)
		}
	}
}

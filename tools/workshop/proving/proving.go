// Package proving is what the commands of one workshop prove know of each other: how long
// each lesson and exercise took, and whether lessons are still being walked.
package proving

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The results.
const (
	Passed = "passed"
	Cached = "cached" // an earlier run has found that it passes
	Failed = "failed"
)

// An Entry is a lesson or an exercise that was proved.
type Entry struct {
	Kind, Name string // such as lesson, stage 6/manager
	Took       time.Duration
	Result     string
}

// A Run is one workshop prove.
type Run struct {
	mu      sync.Mutex
	entries []Entry
	alone   chan struct{}
}

type key struct{}

// Begin returns a context by which commands find the run.
func Begin(ctx context.Context) (context.Context, *Run) {
	r := &Run{alone: make(chan struct{})}
	return context.WithValue(ctx, key{}, r), r
}

// Record adds an entry, if there is a run.
func Record(ctx context.Context, e Entry) {
	if r, ok := ctx.Value(key{}).(*Run); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.entries = append(r.entries, e)
	}
}

// Alone returns what is closed once no lessons are walked any more.
func Alone(ctx context.Context) <-chan struct{} {
	if r, ok := ctx.Value(key{}).(*Run); ok {
		return r.alone
	}
	return closed
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// LessonsDone says that no lessons are walked any more.
func (r *Run) LessonsDone() { close(r.alone) }

// Slowest returns the entries that took longest, as lines, and how many of each kind came from
// the cache.
func (r *Run) Slowest(most int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	cached := map[string]int{}
	var took []Entry
	for _, e := range r.entries {
		if e.Result == Cached {
			cached[e.Kind]++
		} else {
			took = append(took, e)
		}
	}
	slices.SortStableFunc(took, func(a, b Entry) int { return cmp.Compare(b.Took, a.Took) })
	if len(took) > 0 {
		fmt.Fprintln(&text, "the slowest:")
	}
	for _, e := range took[:min(most, len(took))] {
		failed := ""
		if e.Result == Failed {
			failed = "  (failed)"
		}
		fmt.Fprintf(&text, "  %7s  %-8s  %s%s\n", e.Took.Round(time.Second), e.Kind, e.Name, failed)
	}
	if lessons, exercises := cached["lesson"], cached["exercise"]; lessons+exercises > 0 {
		fmt.Fprintf(&text, "from the cache: %d lessons, %d exercises\n", lessons, exercises)
	}
	return text.String()
}

// Write writes all entries to a file, one a line, their fields separated by tabs; the time is
// in seconds.
func (r *Run) Write(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	for _, e := range r.entries {
		fmt.Fprintf(&text, "%s\t%s\t%.0f\t%s\n", e.Kind, e.Name, e.Took.Seconds(), e.Result)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

package settings

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAnOperatorThatDoesNotWatchItsOutput plays the stories with an operator that has
// this mistake. Whoever has only the tests of the happy path would never notice; and
// each test of drift does. Most of them wait in vain, so they do it all at once.
func TestAnOperatorThatDoesNotWatchItsOutput(t *testing.T) {
	w := sharedWorld(t)
	var stories sync.WaitGroup
	defer stories.Wait()
	for name, play := range happyPath {
		stories.Go(func() {
			t.Run(name, func(t *testing.T) { playUnwatched(t, w, name, play) })
		})
	}
	for name, play := range drift {
		stories.Go(func() {
			t.Run(name, func(t *testing.T) {
				tried := &trial{TB: t}
				tried.play(func() { playUnwatched(tried, w, name, play) })
				assert.Contains(t, tried.complaint, undone, "the story is to fail because of that, and of nothing else")
			})
		})
	}
}

func playUnwatched(t testing.TB, w *world, name string, play func(testing.TB, *scene)) {
	s := w.scene(t, sceneName(name))
	s.unwatched = true
	play(t, s)
}

// trial is a test within a test, which keeps its first complaint to itself.
type trial struct {
	testing.TB
	complaint string
}

func (t *trial) Errorf(format string, args ...any) {
	if t.complaint == "" {
		t.complaint = fmt.Sprintf(format, args...)
	}
}

// FailNow ends what play has begun.
func (t *trial) FailNow() { panic(t) }

func (t *trial) play(story func()) {
	defer func() {
		if r := recover(); r != nil && r != any(t) {
			panic(r)
		}
	}()
	story()
}

package practice

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// wait waits for what a channel brings.
func wait[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(30 * time.Second):
		require.Fail(t, "nothing came", what)
		panic("unreachable")
	}
}

func TestASaveIsSeenHoweverItIsMade(t *testing.T) {
	dir := t.TempDir()
	repositorytest.Write(t, filepath.Join(dir, "pkg", "a.go"), "package pkg")
	saved, err := saves(t.Context(), dir)
	require.NoError(t, err)
	seen := func(want ...string) {
		t.Helper()
		for len(want) > 0 {
			if wait(t, saved, want[0]) == filepath.Join(dir, want[0]) {
				want = want[1:]
			}
		}
	}
	repositorytest.Write(t, filepath.Join(dir, "pkg", "a.go"), "package changed")
	seen("pkg/a.go")

	// An editor writes a new file and renames it.
	repositorytest.Write(t, filepath.Join(dir, "pkg", ".a.go.swp"), "package pkg")
	require.NoError(t, os.Rename(filepath.Join(dir, "pkg", ".a.go.swp"), filepath.Join(dir, "pkg", "a.go")))
	seen("pkg/a.go")

	require.NoError(t, os.Remove(filepath.Join(dir, "pkg", "a.go")))
	seen("pkg/a.go")

	repositorytest.Write(t, filepath.Join(dir, "new", "below", "b.yaml"), "b: 1")
	seen("new")
	// Whether the folder was watched when the file came is chance; the next save is not.
	assert.EventuallyWithT(t, func(c *assert.CollectT) {
		repositorytest.Write(t, filepath.Join(dir, "new", "below", "b.yaml"), "b: 2")
		select {
		case name := <-saved:
			assert.Equal(c, filepath.Join(dir, "new", "below", "b.yaml"), name)
		case <-time.After(100 * time.Millisecond):
			assert.Fail(c, "not seen")
		}
	}, 30*time.Second, 10*time.Millisecond)
}

func TestAFolderThatIsNotCannotBeWatched(t *testing.T) {
	_, err := saves(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.ErrorContains(t, err, "watching")
}

func TestWhatNobodySavesIsNoSource(t *testing.T) {
	for _, name := range []string{"a.go", "go.mod", "demo.yaml", "data.json", "Dockerfile", "x.golden"} {
		assert.True(t, isSource(filepath.Join("m", name)), name)
	}
	for _, name := range []string{".a.go.swp", ".#a.go", "#a.go#", "a.go~", "4913", "a.go___jb_tmp___", ".git", "a.swp"} {
		assert.False(t, isSource(filepath.Join("m", name)), name)
	}
}

func TestSavesAreOneWhileTheyFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saved := make(chan string)
		settled := settle(t.Context(), saved, 300*time.Millisecond)
		began := time.Now()
		for _, name := range []string{"a", "b", "c"} {
			saved <- name
			time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the bubble's time
		}
		assert.Equal(t, "c", <-settled)
		assert.Equal(t, 500*time.Millisecond, time.Since(began))

		// One that nobody took yet waits for the next.
		saved <- "d"
		time.Sleep(time.Second) //nolint:forbidigo // the bubble's time
		saved <- "e"
		assert.Equal(t, "e", <-settled)
		close(saved)
		_, open := <-settled
		assert.False(t, open)
	})
}

func TestASaveEndsACheckAndBeginsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		saved := make(chan string)
		checks := make(chan chan error) // each check sends what it waits for
		ended := make(chan error, 1)
		go func() {
			ended <- practice{out: &out}.repeat(t.Context(), saved, func(ctx context.Context) error {
				verdict := make(chan error)
				checks <- verdict
				select {
				case err := <-verdict:
					return err
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
		}()
		<-checks
		saved <- "a.go" // while it runs
		verdict := <-checks
		verdict <- ErrNotYet
		synctest.Wait()
		saved <- "a.go" // while it waits
		verdict = <-checks
		verdict <- errors.New("go is not installed")
		synctest.Wait()
		saved <- "a.go"
		verdict = <-checks
		verdict <- nil
		require.NoError(t, <-ended)
		assert.Contains(t, out.String(), "go is not installed")
		assert.NotContains(t, out.String(), "canceled")
	})
}

func TestWatchingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, check := range map[string]func(context.Context) error{
			"while it waits": func(context.Context) error { return ErrNotYet },
			"while it runs":  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		} {
			t.Log(name)
			var out bytes.Buffer
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			settled := settle(ctx, make(chan string), time.Second)
			go func() { ended <- practice{out: &out}.repeat(ctx, settled, check) }()
			synctest.Wait()
			cancel()
			require.NoError(t, <-ended)
			assert.NotContains(t, out.String(), "canceled")
		}
	})
}

func TestWatchingEndsWhenItIsSolved(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	lines := make(chan string)
	go func() {
		defer close(lines)
		buffer := make([]byte, 1<<16)
		for {
			n, err := reader.Read(buffer)
			if err != nil {
				return
			}
			lines <- string(buffer[:n])
		}
	}()
	ended := make(chan error, 1)
	go func() {
		p := l.open(nil)
		p.out = writer
		ended <- p.watch(t.Context(), p.copyOf("1-lost"), 2*time.Minute)
		writer.Close()
	}()
	var said bytes.Buffer
	for !bytes.Contains(said.Bytes(), []byte("Waiting for you to save a file")) {
		said.WriteString(wait(t, lines, said.String()))
	}
	assert.Contains(t, said.String(), "fails: TestSum/of_two")
	l.solve()
	for text := range lines {
		said.WriteString(text)
	}
	require.NoError(t, wait(t, ended, said.String()))
	assert.Contains(t, said.String(), "Well done")
}

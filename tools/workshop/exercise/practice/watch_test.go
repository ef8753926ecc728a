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

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// wait waits for what a channel brings.
func wait[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(exercisetest.Timeout):
		require.Fail(t, "nothing came", what)
		panic("unreachable")
	}
}

func TestASaveIsSeenHoweverItIsMade(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "pkg", "a.go")
	repositorytest.Write(t, file, "package pkg")
	saved, err := saves(t.Context(), dir, other)
	require.NoError(t, err)
	for _, save := range []struct {
		how string
		do  func()
	}{
		{"it is written", func() { repositorytest.Write(t, file, "package changed") }},
		{"the size stays", func() { repositorytest.Write(t, file, "package Changed") }},
		{"an editor writes a new file and renames it", func() {
			repositorytest.Write(t, filepath.Join(dir, "pkg", ".a.go.swp"), "package pkg")
			require.NoError(t, os.Rename(filepath.Join(dir, "pkg", ".a.go.swp"), file))
		}},
		{"it is removed", func() { require.NoError(t, os.Remove(file)) }},
		{"it is in the other folder", func() { repositorytest.Write(t, filepath.Join(other, "o.go"), "package other") }},
		{"a folder is new", func() { repositorytest.Write(t, filepath.Join(dir, "new", "below", "b.yaml"), "b: 1") }},
	} {
		save.do()
		wait(t, saved, save.how)
	}
}

func TestAFolderThatIsNotCannotBeWatched(t *testing.T) {
	_, err := saves(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.ErrorContains(t, err, "watching")
}

func TestWhatNobodySavesIsNoSource(t *testing.T) {
	for _, name := range []string{"a.go", "go.mod", "demo.yaml", "data.json", "Dockerfile", "x.golden"} {
		assert.True(t, isSource(filepath.Join("m", name)), name)
	}
	for _, name := range []string{".a.go.swp", ".#a.go", "#a.go#", "a.go~", "4913", "a.go___jb_tmp___", ".git", "a.swp", "operator.log"} {
		assert.False(t, isSource(filepath.Join("m", name)), name)
	}
}

func TestSavesAreOneWhileTheyFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		file := filepath.Join(t.TempDir(), "a.go")
		size := 0
		save := func() {
			size++
			require.NoError(t, os.WriteFile(file, make([]byte, size), 0o600))
		}
		save()
		saved, err := saves(ctx, filepath.Dir(file))
		require.NoError(t, err)
		began := time.Now()
		time.Sleep(pollInterval / 2) //nolint:forbidigo // the bubble's time, between two looks
		for range 3 {
			save()
			time.Sleep(pollInterval) //nolint:forbidigo // the bubble's time
		}
		<-saved
		assert.Equal(t, 4*pollInterval, time.Since(began))

		// One that nobody took yet waits for the next, and what nobody saves is none.
		save()
		time.Sleep(time.Second) //nolint:forbidigo // the bubble's time
		save()
		time.Sleep(time.Second) //nolint:forbidigo // the bubble's time
		<-saved
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), ".a.go.swp"), nil, 0o600))
		repositorytest.Write(t, filepath.Join(filepath.Dir(file), "bin", "program"), "built")
		time.Sleep(time.Second) //nolint:forbidigo // the bubble's time
		select {
		case <-saved:
			assert.Fail(t, "nothing was saved")
		default:
		}
		cancel()
		_, open := <-saved
		assert.False(t, open)
	})
}

func TestASaveEndsACheckAndBeginsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		saved := make(chan struct{})
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
		saved <- struct{}{} // while it runs
		verdict := <-checks
		verdict <- ErrNotYet
		synctest.Wait()
		saved <- struct{}{} // while it waits
		verdict = <-checks
		verdict <- errors.New("go is not installed")
		synctest.Wait()
		saved <- struct{}{}
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
			saved := make(chan struct{})
			go func() { ended <- practice{out: &out}.repeat(ctx, saved, check) }()
			synctest.Wait()
			cancel()
			close(saved) // as saves does it
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
		ended <- p.watch(t.Context(), p.copyOf("1-lost"), exercisetest.Timeout)
		writer.Close()
	}()
	var printed bytes.Buffer
	for !bytes.Contains(printed.Bytes(), []byte("Waiting for you to save a file")) {
		printed.WriteString(wait(t, lines, printed.String()))
	}
	assert.Contains(t, printed.String(), "fails: TestSum/of_two")
	l.solve()
	for text := range lines {
		printed.WriteString(text)
	}
	require.NoError(t, wait(t, ended, printed.String()))
	assert.Contains(t, printed.String(), "Well done")
}

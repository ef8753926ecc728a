package practice

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestInVSCodeTheFileOpensByItself(t *testing.T) {
	l := newLearner(t)
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	repositorytest.Write(t, filepath.Join(bin, "code"), "#!/bin/sh\necho \"$@\" >> '"+log+"'\n")
	require.NoError(t, os.Chmod(filepath.Join(bin, "code"), 0o755))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "")
	logged := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			text, _ := os.ReadFile(log) // there is none before
			return string(text) == want
		}, sessionTimeout, 10*time.Millisecond, want)
		require.NoError(t, os.Remove(log))
	}

	l.code = true
	s := l.learn(t.Context())
	s.next("waiting for you")
	logged("-r -g " + l.copyPath("1-lost", "01-sums", "sum", "sum.go") + ":1\n")
	s.press("o")
	logged("-r .workshop/1-lost/01-sums/sum/sum.go .workshop/1-lost/01-sums/lesson/exercises/lost/README.md\n")
	s.quit()
}

func TestAStubIsWhereOneBegins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "main.go")
	repositorytest.Write(t, file, "package main\n\n// not written yet\n")
	require.Equal(t, 3, lineOf(file))
	require.Equal(t, 1, lineOf(file+".none"))
}

// The editor is in the foreground, too, and Ctrl-C is a command there.
func TestCtrlCIsForTheEditor(t *testing.T) {
	defer editing.Store(false)
	for inEditor, want := range map[bool]string{true: "terminated signal received", false: "interrupt signal received"} {
		editing.Store(inEditor)
		ctx := NotifyContext()
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
		if inEditor {
			require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
		}
		<-ctx.Done()
		require.EqualError(t, context.Cause(ctx), want)
	}
}

func TestTheTestsThatTheEditorEndedAreRunAgain(t *testing.T) {
	l := newLearner(t)
	t.Setenv("EDITOR", "echo edits")
	s := l.learn(t.Context())
	s.next("Running the tests on the code as it stands")
	s.press("o")
	s.next("edits")
	s.next("fails: TestSum/of_two")
	s.quit()
	require.NotContains(t, s.text(), "canceled")
}

package proof

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func newSlot(t *testing.T, dir string) *slot {
	t.Helper()
	s, err := takeSlot(dir)
	require.NoError(t, err)
	t.Cleanup(s.Free)
	return s
}

// What is in the slot from an earlier run does not matter.
func TestASlotIsFilledAnew(t *testing.T) {
	for name, leave := range map[string]func(*testing.T, *slot){
		"nothing": func(*testing.T, *slot) {},
		"a patch and new files": func(t *testing.T, s *slot) {
			require.NoError(t, s.apply(t.Context(), "01-sums/lesson/exercises/lost/break.patch"))
			repositorytest.Write(t, s.Path("01-sums", "new", "new.go"), "package new\n")
			repositorytest.Write(t, s.Path(".workshop", "ignored"), "x")
		},
		"a commit":             func(t *testing.T, s *slot) { require.NoError(t, s.Commit(t.Context(), "another")) },
		"the lock of git":      func(t *testing.T, s *slot) { repositorytest.Write(t, s.Path(".git", "index.lock"), "") },
		"half a clone":         func(t *testing.T, s *slot) { require.NoError(t, os.RemoveAll(s.Path(".git", "objects"))) },
		"no repository at all": func(t *testing.T, s *slot) { require.NoError(t, os.RemoveAll(s.Path(".git"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := exercisetest.New(t)
			// The slot lies in a repository of somebody's own, which nobody may clean.
			around := repositorytest.New(t, map[string]string{"mine.txt": "mine"})
			repositorytest.Write(t, around.Path("new.txt"), "new")
			s := newSlot(t, around.Path("cache"))
			require.NoError(t, s.fill(t.Context(), r, r))
			leave(t, s)

			exercisetest.Edit(t, r.Path("01-sums", "sum", "sum.go"), "Sum adds numbers", "Sum adds")
			repositorytest.Write(t, r.Path("lab", "bin", "lab"), "a lab")
			require.NoError(t, s.fill(t.Context(), r, r))
			assert.Empty(t, repositorytest.Git(t, s.Repository, "status", "--porcelain", "--ignored", "--", ":!lab"))
			assert.Equal(t, repositorytest.Read(t, r.Path("01-sums", "sum", "sum.go")), repositorytest.Read(t, s.Path("01-sums", "sum", "sum.go")))
			assert.Equal(t, "a lab", repositorytest.Read(t, s.Path("lab", "bin", "lab")))
			assert.FileExists(t, around.Path("new.txt"))
		})
	}
}

func TestASlotIsRestored(t *testing.T) {
	r := exercisetest.New(t)
	repositorytest.Write(t, r.Path("lab", "bin", "lab"), "a lab")
	s := newSlot(t, t.TempDir())
	require.NoError(t, s.fill(t.Context(), r, r))
	before := times(t, s)
	require.NoError(t, s.apply(t.Context(), "01-sums/lesson/exercises/lost/break.patch"))
	repositorytest.Write(t, s.Path("01-sums", "sum", "left_by_a_test"), "")
	require.NoError(t, s.restore(t.Context()))
	assert.Equal(t, before, times(t, s))
	assert.FileExists(t, s.Path("lab", "bin", "lab"))
}

// times are those of all that is in a slot, but for git's own and the lab.
func times(t *testing.T, s *slot) map[string]time.Time {
	t.Helper()
	found := map[string]time.Time{}
	require.NoError(t, filepath.WalkDir(s.Root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.Name() == ".git" || entry.Name() == "lab" {
			return filepath.SkipDir
		}
		info, err := entry.Info()
		found[path] = info.ModTime()
		return err
	}))
	return found
}

func TestTimesFollowTheContent(t *testing.T) {
	r := exercisetest.New(t)
	// Here the patch makes what the author has not committed yet; the author's own times
	// do not matter.
	cache := t.TempDir()
	filled := func() (*slot, map[string]time.Time) {
		s := newSlot(t, cache)
		require.NoError(t, s.fill(t.Context(), r, repository.Repository{}))
		defer s.Free()
		return s, times(t, s)
	}
	s, before := filled()
	require.Equal(t, filepath.Join(cache, "slot-1"), s.Root)
	require.NoError(t, os.RemoveAll(s.Root))
	_, again := filled()
	assert.Equal(t, before, again, "a slot that was made again")
	for path, when := range before {
		assert.False(t, when.After(epoch.AddDate(3, 0, 0)), path)
		assert.False(t, when.Before(epoch), path)
	}

	exercisetest.Edit(t, r.Path("01-sums", "sum", "sum.go"), "total += n", "total = n")
	_, changed := filled()
	sum := s.Path("01-sums", "sum", "sum.go")
	assert.NotEqual(t, before[sum], changed[sum], "another content has another time")
	patched := changed[sum]
	delete(before, sum)
	delete(changed, sum)
	assert.Equal(t, before, changed, "nothing else has")

	repositorytest.Git(t, r, "checkout", "--quiet", ".")
	_, _ = filled()
	require.NoError(t, s.apply(t.Context(), "01-sums/lesson/exercises/lost/break.patch"))
	assert.Equal(t, patched, times(t, s)[sum], "the same content has the same time, whoever made it")
}

// A test that notes each time it is run, and reads a file.
const noting = `package words

import (
	"os"
	"testing"
)

func TestNoting(t *testing.T) {
	file, err := os.OpenFile("NOTES", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	file.WriteString("x")
	if _, err := os.ReadFile("../sum/sum.go"); err != nil {
		t.Fatal(err)
	}
	os.Getenv("TEST_INPUTS")
}
`

// Go's cache answers for a stage without a patch, also for another clone, until something
// changes that its tests read.
func TestWhatWasTestedBeforeIsInGosCache(t *testing.T) {
	r := exercisetest.New(t)
	notes := filepath.Join(t.TempDir(), "notes")
	repositorytest.Write(t, r.Path("01-sums", "words", "noting_test.go"), replaced(noting, "NOTES", notes))
	repositorytest.Write(t, r.Path("tools", "scripts", "inputs.sh"), "#!/bin/sh\ncat \"$1\"/../inputs\n")
	repositorytest.Write(t, r.Path("inputs"), "server1 lab1")
	require.NoError(t, r.Commit(t.Context(), "a test that notes"))
	p := newProver(t, r)
	p.Fresh = true
	runs := func() int {
		out, err := p.run(t, "1/silent")
		require.NoError(t, err, out)
		return len(repositorytest.Read(t, notes)) - 1 // without that of the patch, which fails
	}
	assert.Equal(t, 1, runs())
	again, err := r.Copy(t.Context(), filepath.Join(t.TempDir(), "another clone"))
	require.NoError(t, err)
	p.Repository = again
	assert.Equal(t, 2, runs(), "only with the patch")
	exercisetest.Edit(t, again.Path("01-sums", "sum", "sum.go"), "Sum adds numbers", "Sum adds Numbers")
	assert.Equal(t, 4, runs(), "also without it: what is read is of the same size, but other")
	repositorytest.Write(t, again.Path("inputs"), "server2 lab1")
	assert.Equal(t, 6, runs(), "also without it: the inputs are others")
}

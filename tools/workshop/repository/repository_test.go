package repository_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// newRepository makes a small one, with two stages and one commit.
func newRepository(t *testing.T) repository.Repository {
	t.Helper()
	return repositorytest.New(t, map[string]string{
		".gitignore":                 "/lab/bin/\n",
		"01-client-list/go.mod":      "module one\n",
		"01-client-list/main.go":     "package main\n",
		"02-resource-builder/go.mod": "module two\n",
		"tools/go.mod":               "module workshop\n",
	})
}

func TestItIsFoundFromAnyFolderInIt(t *testing.T) {
	r := newRepository(t)
	found, err := repository.Find(t.Context(), r.Path("01-client-list"))
	require.NoError(t, err)
	assert.Equal(t, r.Root, found.Root)

	_, err = repository.Find(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "not a git repository")
	require.ErrorContains(t, err, "run this in a git clone of the workshop")

	require.NoError(t, os.Remove(r.Path("tools", "go.mod")))
	_, err = repository.Find(t.Context(), r.Root)
	require.ErrorContains(t, err, "is not the workshop's repository")
}

func TestAWorktreeKnowsItsHome(t *testing.T) {
	r := newRepository(t)
	_, err := r.Git(t.Context(), "worktree", "add", "--quiet", "-b", "exercise", ".workshop/tombstone")
	require.NoError(t, err)
	found, err := repository.Find(t.Context(), r.Path(".workshop", "tombstone", "01-client-list"))
	require.NoError(t, err)
	assert.Equal(t, r.Path(".workshop", "tombstone"), found.Root)
	home, err := found.Home(t.Context())
	require.NoError(t, err)
	assert.Equal(t, r, home)
	home, err = r.Home(t.Context())
	require.NoError(t, err)
	assert.Equal(t, r, home)
}

func TestStagesAreItsNumberedModules(t *testing.T) {
	r := newRepository(t)
	require.NoError(t, os.Mkdir(r.Path("03-notes"), 0o755))
	stages, err := r.Stages()
	require.NoError(t, err)
	assert.Equal(t, []repository.Stage{{Number: 1, Folder: "01-client-list"}, {Number: 2, Folder: "02-resource-builder"}}, stages)

	repositorytest.Write(t, r.Path("10-more", "go.mod"), "module ten\n")
	stage, err := r.Stage("10")
	require.NoError(t, err)
	assert.Equal(t, repository.Stage{Number: 10, Folder: "10-more"}, stage)
	require.NoError(t, os.RemoveAll(r.Path("10-more")))

	for _, number := range []string{"2", "02"} {
		stage, err := r.Stage(number)
		require.NoError(t, err)
		assert.Equal(t, repository.Stage{Number: 2, Folder: "02-resource-builder"}, stage)
	}
	for _, number := range []string{"3", "0", "-1", "two", ""} {
		_, err := r.Stage(number)
		require.ErrorContains(t, err, "there is no stage "+number+" here; there is: 1, 2")
	}
	_, err = repository.Repository{Root: t.TempDir()}.Stages()
	require.ErrorContains(t, err, "has no stage")
}

func TestACopyHoldsWhatIsNotCommittedYet(t *testing.T) {
	r := newRepository(t)
	repositorytest.Write(t, r.Path("01-client-list", "main.go"), "package changed\n")
	repositorytest.Write(t, r.Path("01-client-list", "with space.go"), "package added\n")
	repositorytest.Write(t, r.Path("lab", "bin", "lab"), "ignored")
	require.NoError(t, os.Remove(r.Path("02-resource-builder", "go.mod")))

	copied, err := r.Copy(t.Context(), filepath.Join(t.TempDir(), "a copy"))
	require.NoError(t, err)
	assert.Equal(t, "package changed\n", repositorytest.Read(t, copied.Path("01-client-list", "main.go")))
	assert.Equal(t, "package added\n", repositorytest.Read(t, copied.Path("01-client-list", "with space.go")))
	assert.NoFileExists(t, copied.Path("02-resource-builder", "go.mod"))
	assert.NoDirExists(t, copied.Path("lab"))
	status, err := copied.Git(t.Context(), "status", "--porcelain")
	require.NoError(t, err)
	assert.Empty(t, status, "a lesson that asks git wants a clean tree")
	subject, err := r.Git(t.Context(), "log", "-1", "--format=%s")
	require.NoError(t, err)
	assert.Equal(t, "first", subject, "the original was committed to")
}

func TestACopyWithoutChangesIsTheSameCommit(t *testing.T) {
	r := newRepository(t)
	copied, err := r.Copy(t.Context(), filepath.Join(t.TempDir(), "copy"))
	require.NoError(t, err)
	assert.Equal(t, head(t, r), head(t, copied))
	_, err = r.Copy(t.Context(), copied.Root)
	require.ErrorContains(t, err, "already exists")
}

func TestACopyIsGivenTheLab(t *testing.T) {
	r := newRepository(t)
	copied, err := r.Copy(t.Context(), filepath.Join(t.TempDir(), "copy"))
	require.NoError(t, err)
	require.ErrorContains(t, r.GiveLab(copied), "make lab")

	repositorytest.Write(t, r.Path("lab", "bin", "lab"), "program")
	require.NoError(t, os.Symlink("lab", r.Path("lab", "bin", "kubectl")))
	for range 2 { // also where a lab was given before
		require.NoError(t, r.GiveLab(copied))
		assert.Equal(t, "program", repositorytest.Read(t, r.Path("lab", "bin", "lab")))
		assert.Equal(t, "program", repositorytest.Read(t, copied.Path("lab", "bin", "kubectl")))
	}
	target, err := os.Readlink(copied.Path("lab", "bin", "kubectl"))
	require.NoError(t, err)
	assert.Equal(t, "lab", target)
	assert.True(t, os.SameFile(info(t, r.Path("lab", "bin", "lab")), info(t, copied.Path("lab", "bin", "lab"))), "180 MB were copied")
}

func TestALabThatIsGivenToItselfIsStillThere(t *testing.T) {
	r := newRepository(t)
	copied, err := r.Copy(t.Context(), filepath.Join(t.TempDir(), "copy"))
	require.NoError(t, err)
	repositorytest.Write(t, r.Path("lab", "bin", "lab"), "program")
	require.NoError(t, os.MkdirAll(copied.Path("lab"), 0o755))
	require.NoError(t, os.Symlink(r.Path("lab", "bin"), copied.Path("lab", "bin")))

	require.NoError(t, r.GiveLab(copied))
	assert.Equal(t, "program", repositorytest.Read(t, r.Path("lab", "bin", "lab")))
}

func info(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info
}

func TestGitOfAHookSpeaksOfItsOwnFolder(t *testing.T) {
	r, other := newRepository(t), newRepository(t)
	t.Setenv("GIT_DIR", other.Path(".git"))
	found, err := repository.Find(t.Context(), r.Root)
	require.NoError(t, err)
	assert.Equal(t, r.Root, found.Root)
}

func head(t *testing.T, r repository.Repository) string {
	t.Helper()
	return repositorytest.Git(t, r, "rev-parse", "HEAD")
}

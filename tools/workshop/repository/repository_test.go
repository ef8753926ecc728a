package repository

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newRepository makes a small one, with two stages and one commit.
func newRepository(t *testing.T) Repository {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := Repository{Root: root}
	_, err = r.Git(t.Context(), "init", "--quiet", "--initial-branch=main")
	require.NoError(t, err)
	for name, content := range map[string]string{
		".gitignore":                 "/lab/bin/\n",
		"01-client-list/go.mod":      "module one\n",
		"01-client-list/main.go":     "package main\n",
		"02-resource-builder/go.mod": "module two\n",
		"tools/workshop/go.mod":      "module workshop\n",
	} {
		write(t, r.Path(name), content)
	}
	require.NoError(t, r.Commit(t.Context(), "first"))
	return r
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func TestItIsFoundFromAnyFolderInIt(t *testing.T) {
	r := newRepository(t)
	found, err := Find(t.Context(), r.Path("01-client-list"))
	require.NoError(t, err)
	assert.Equal(t, r.Root, found.Root)

	_, err = Find(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "not a git repository")
	require.ErrorContains(t, err, "run this in a git clone of the workshop")

	require.NoError(t, os.Remove(r.Path("tools", "workshop", "go.mod")))
	_, err = Find(t.Context(), r.Root)
	require.ErrorContains(t, err, "is not the workshop's repository")
}

func TestAWorktreeKnowsItsHome(t *testing.T) {
	r := newRepository(t)
	_, err := r.Git(t.Context(), "worktree", "add", "--quiet", "-b", "exercise", ".workshop/tombstone")
	require.NoError(t, err)
	found, err := Find(t.Context(), r.Path(".workshop", "tombstone", "01-client-list"))
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
	assert.Equal(t, []Stage{{1, "01-client-list"}, {2, "02-resource-builder"}}, stages)

	for _, number := range []string{"2", "02"} {
		stage, err := r.Stage(number)
		require.NoError(t, err)
		assert.Equal(t, Stage{2, "02-resource-builder"}, stage)
	}
	for _, number := range []string{"3", "0", "-1", "two", ""} {
		_, err := r.Stage(number)
		require.ErrorContains(t, err, "there is no stage "+number+" here; there is: 1, 2")
	}
	_, err = Repository{Root: t.TempDir()}.Stages()
	require.ErrorContains(t, err, "has no stage")
}

func TestACopyHoldsWhatIsNotCommittedYet(t *testing.T) {
	r := newRepository(t)
	write(t, r.Path("01-client-list", "main.go"), "package changed\n")
	write(t, r.Path("01-client-list", "with space.go"), "package added\n")
	write(t, r.Path("lab", "bin", "lab"), "ignored")
	require.NoError(t, os.Remove(r.Path("02-resource-builder", "go.mod")))

	copied, err := r.Copy(t.Context(), filepath.Join(t.TempDir(), "a copy"))
	require.NoError(t, err)
	assert.Equal(t, "package changed\n", read(t, copied.Path("01-client-list", "main.go")))
	assert.Equal(t, "package added\n", read(t, copied.Path("01-client-list", "with space.go")))
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

	write(t, r.Path("lab", "bin", "lab"), "program")
	require.NoError(t, os.Symlink("lab", r.Path("lab", "bin", "kubectl")))
	require.NoError(t, r.GiveLab(copied))
	assert.Equal(t, "program", read(t, copied.Path("lab", "bin", "kubectl")))
}

func TestGitOfAHookSpeaksOfItsOwnFolder(t *testing.T) {
	r, other := newRepository(t), newRepository(t)
	t.Setenv("GIT_DIR", other.Path(".git"))
	found, err := Find(t.Context(), r.Root)
	require.NoError(t, err)
	assert.Equal(t, r.Root, found.Root)
}

func head(t *testing.T, r Repository) string {
	t.Helper()
	commit, err := r.Git(t.Context(), "rev-parse", "HEAD")
	require.NoError(t, err)
	return commit
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

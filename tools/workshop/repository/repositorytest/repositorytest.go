// Package repositorytest makes small repositories, for tests.
package repositorytest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// New makes one of files, with one commit. Programs may be among them. The folder has a name
// that a shell or a pattern takes apart, as that of a clone may have.
func New(t testing.TB, files map[string]string) repository.Repository {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := repository.Repository{Root: filepath.Join(root, "a [b] c")}
	require.NoError(t, os.Mkdir(r.Root, 0o755))
	Git(t, r, "init", "--quiet", "--initial-branch=main")
	for name, content := range files {
		Write(t, r.Path(name), content)
	}
	require.NoError(t, r.Commit(t.Context(), "first"))
	return r
}

// Git runs git in r and returns what it prints.
func Git(t testing.TB, r repository.Repository, args ...string) string {
	t.Helper()
	out, err := r.Git(t.Context(), args...)
	require.NoError(t, err)
	return out
}

// Write writes a file that may be run, and makes the folders it lies in.
func Write(t testing.TB, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o755))
}

// Read reads a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

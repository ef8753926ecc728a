package verdict

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAVerdictIsOfItsContent(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "verdicts")
	v := New(folder, "stage 3\nlab 1\n")
	assert.False(t, v.Known())
	require.NoError(t, v.Save())
	assert.True(t, New(folder, "stage 3\nlab 1\n").Known())
	assert.False(t, New(folder, "stage 3\nlab 2\n").Known())
}

func TestTheHashOfAFolderIsOfAllThatIsInIt(t *testing.T) {
	root := t.TempDir()
	hash := func() string {
		hash, err := Hash(root)
		require.NoError(t, err)
		return hash
	}
	in := func(name string) string { return filepath.Join(root, name) }
	seen := map[string]string{hash(): "nothing"}
	for _, change := range []struct {
		name string
		do   func() error
	}{
		{"a file", func() error { return os.WriteFile(in("lab"), []byte("a lab"), 0o644) }},
		{"its content", func() error { return os.WriteFile(in("lab"), []byte("a LAB"), 0o644) }},
		{"its mode", func() error { return os.Chmod(in("lab"), 0o755) }},
		{"its name", func() error { return os.Rename(in("lab"), in("etcd")) }},
		{"its folder", func() error { return os.Mkdir(in("bin"), 0o755) }},
		{"where it is", func() error { return os.Rename(in("etcd"), in("bin/etcd")) }},
		{"a link", func() error { return os.Symlink("bin", in("link")) }},
	} {
		require.NoError(t, change.do())
		assert.Empty(t, seen[hash()], change.name)
		seen[hash()] = change.name
	}
	root = filepath.Join(root, "gone")
	assert.NotEmpty(t, hash())
}

func TestFreshIsAVariable(t *testing.T) {
	for value, want := range map[string]bool{"": false, "0": false, "1": true, "yes": true} {
		t.Setenv("FRESH", value)
		assert.Equal(t, want, Fresh(), value)
	}
}

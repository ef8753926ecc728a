package shim

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResolve(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "run", "secrets"), 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(root, "var"), 0o755))
	for link, target := range map[string]string{
		"var/run":  "/run",
		"relative": "var/run",
		"climbing": "../../../../run",
		"loop":     "loop",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, link)))
	}
	for path, want := range map[string]string{
		"/":                        "/",
		"/run/secrets":             "/run/secrets",
		"/var/run/secrets":         "/run/secrets",
		"/var/run/none/at/all":     "/run/none/at/all",
		"/relative/secrets":        "/run/secrets",
		"/climbing/secrets":        "/run/secrets",
		"/../../run":               "/run",
		"/var/run/../var/./run//x": "/run/x",
		"no/leading/slash":         "/no/leading/slash",
	} {
		got, err := Resolve(root, path)
		require.NoError(t, err, path)
		assert.Equal(t, want, got, path)
	}
	_, err := Resolve(root, "/loop/x")
	require.ErrorIs(t, err, syscall.ELOOP)
}

func TestLookPath(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"bin", "opt", "sbin"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "bin", "tool"), nil, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "bin", "data"), nil, 0o644))
	require.NoError(t, os.Symlink("/bin/tool", filepath.Join(root, "opt", "linked")))
	env := []string{"PATH=/nowhere:/opt:/bin"}
	for name, want := range map[string]string{
		"tool":        "/bin/tool",
		"linked":      "/opt/linked",
		"/opt/linked": "/opt/linked",
		"./tool":      "/bin/tool",
	} {
		got, err := lookPath(root, "/bin", name, env)
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
	for name, want := range map[string]string{
		"none":      `exec: "none": executable file not found in $PATH`,
		"/bin/none": `exec: "/bin/none": no such file or directory`,
		"data":      `exec: "data": permission denied`,
		"/bin/data": `exec: "/bin/data": permission denied`,
		"/bin":      `exec: "/bin": is a directory`,
		"":          "exec: no command (give the container a command)",
	} {
		_, err := lookPath(root, "/bin", name, env)
		assert.EqualError(t, err, want, name)
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In these DIR stands for a folder with a good kubeconfig, one that does not
// parse, and a home without any.
func TestEveryBrokenConfigurationHasItsSentence(t *testing.T) {
	tests := map[string]struct {
		env  string // KUBECONFIG
		args []string
		want string
	}{
		"no configuration anywhere": {"", nil,
			"no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG"},
		"KUBECONFIG names no file": {"DIR/missing", nil,
			"no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG"},
		"--kubeconfig names no file, though another exists": {"DIR/good", []string{"--kubeconfig=DIR/missing"},
			"stat DIR/missing: no such file or directory; correct --kubeconfig, --context or KUBECONFIG"},
		"an unknown context": {"DIR/good", []string{"--context=moon"},
			`context "moon" does not exist; correct --kubeconfig, --context or KUBECONFIG`},
		"a file that does not parse": {"DIR/broken", nil,
			`error loading config file "DIR/broken": `},
		"a certificate authority that is none": {"DIR/untrusted", nil,
			"creating a client for https://example:6443: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("KUBECACHEDIR", t.TempDir())
			t.Setenv("HOME", dir)
			t.Setenv("KUBECONFIG", strings.ReplaceAll(tc.env, "DIR", dir))
			require.NoError(t, os.Rename(kubeconfigTo(t, theServer, nil), filepath.Join(dir, "good")))
			require.NoError(t, os.Rename(kubeconfigTo(t, theServer, []byte("not a certificate")), filepath.Join(dir, "untrusted")))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "broken"), []byte("apiVersion: [v1"), 0o600))

			args := []string{"namespaces"}
			for _, arg := range tc.args {
				args = append(args, strings.ReplaceAll(arg, "DIR", dir))
			}
			stdout, stderr, code := resourceBuilder(args...)
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, "error: "+strings.ReplaceAll(tc.want, "DIR", dir))
			assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		})
	}
}

package settings

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/testcluster"
)

func TestWrongOptions(t *testing.T) {
	for args, want := range map[string]string{
		"--workers=0":      "--workers is 0, it must be at least 1",
		"--config-map=A/b": `--config-map "A/b" is not the name of a ConfigMap: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
		"--config-map=":    `--config-map "" is not the name of a ConfigMap: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
		"harbour":          `unexpected argument "harbour"`,
		"--moon":           "unknown flag: --moon",
	} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, 1, cli.Run(t.Context(), Command(), []string{args}, &stdout, &stderr))
		assert.Equal(t, "error: "+want+"; see settings --help\n", stderr.String())
		assert.Empty(t, stdout.String())
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 0, cli.Run(t.Context(), Command(), []string{"--help"}, &stdout, &stderr))
	assert.Contains(t, stdout.String(), "Merge the SettingsLayers of a namespace into a ConfigMap, and keep it so\n\nUsage:\n  settings [flags]\n")
	assert.Regexp(t, `--config-map name .* \(default "settings"\)`, stdout.String())
	assert.Regexp(t, `--workers many .* \(default 4\)`, stdout.String())
	assert.Empty(t, stderr.String())
}

var serverLine = regexp.MustCompile("server: .*")

func TestTheProgram(t *testing.T) {
	w := sharedWorld(t)
	kubeconfig := func(user string) string {
		added, err := w.AddUser(envtest.User{Name: user}, nil)
		require.NoError(t, err)
		content, err := added.KubeConfig()
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), user)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	operator, nobody := kubeconfig("operator"), kubeconfig("jane")

	for name, all := range map[string]bool{"one namespace": false, "all namespaces": true} {
		t.Run(name, func(t *testing.T) {
			s := w.newEnv(t, envName(name))
			args := []string{"-n", s.name}
			if all {
				args = []string{"-A"}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var stdout, stderr bytes.Buffer
			code := make(chan int, 1)
			go func() {
				code <- cli.Run(ctx, newCommand(Options{SkipNameValidation: true}), append(args, "--kubeconfig", operator), &stdout, &stderr)
			}()
			s.layer("defaults", 0, data{"colour": "blue"})
			s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
			cancel()
			assert.Zero(t, <-code)
			assert.Empty(t, stdout.String()+stderr.String())
		})
	}

	t.Run("without rights", func(t *testing.T) {
		var stderr bytes.Buffer
		assert.Equal(t, 1, cli.Run(t.Context(), Command(), []string{"-A", "--kubeconfig", nobody}, io.Discard, &stderr))
		assert.Equal(t, `error: settingslayers.settings.example.com is forbidden: User "jane" cannot list resource "settingslayers" in API group "settings.example.com" at the cluster scope; ask an administrator for that verb on that resource`+"\n", stderr.String())
	})
	t.Run("a name that the role does not allow", func(t *testing.T) {
		var stderr bytes.Buffer
		assert.Equal(t, 1, cli.Run(t.Context(), Command(), []string{"-A", "--kubeconfig", operator, "--config-map=other"}, io.Discard, &stderr))
		assert.Equal(t, `error: configmaps "other" is forbidden: User "operator" cannot list resource "configmaps" in API group "" at the cluster scope; ask an administrator for that verb on that resource`+"\n", stderr.String())
	})
	t.Run("nothing listens", func(t *testing.T) {
		var stderr bytes.Buffer
		content, err := os.ReadFile(operator)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "kubeconfig")
		require.NoError(t, os.WriteFile(path, serverLine.ReplaceAll(content, []byte("server: https://127.0.0.1:1")), 0o600))
		assert.Equal(t, 1, cli.Run(t.Context(), Command(), []string{"--kubeconfig", path}, io.Discard, &stderr))
		assert.Equal(t, "error: https://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)\n", stderr.String())
	})
	t.Run("no kubeconfig", func(t *testing.T) {
		var stderr bytes.Buffer
		assert.Equal(t, 1, cli.Run(t.Context(), Command(), []string{"--kubeconfig=/nowhere"}, io.Discard, &stderr))
		assert.Equal(t, "error: stat /nowhere: no such file or directory; correct --kubeconfig, --context or KUBECONFIG\n", stderr.String())
	})
}

func withoutTheCRD(t *testing.T, c *testcluster.Cluster) {
	err := Run(t.Context(), c.Config, Options{ConfigMap: "settings", Workers: 1, SkipNameValidation: true})
	require.EqualError(t, err, "the cluster does not know SettingsLayers; create their CRD with kubectl apply -f config/crd")
}

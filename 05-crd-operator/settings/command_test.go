package settings

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/hacking-a-controller/05-crd-operator/internal/testcluster"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions(strings.Fields("--kubeconfig=k --context=c -n harbour -A --config-map=app --workers=2"), io.Discard)
	require.NoError(t, err)
	assert.Equal(t, "k c harbour app", o.cluster.Kubeconfig+" "+o.cluster.Context+" "+o.cluster.Namespace+" "+o.configMap)
	assert.True(t, o.allNamespaces)
	assert.Equal(t, 2, o.workers)

	o, err = parseOptions(nil, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, "settings 4", o.configMap+" "+string(rune('0'+o.workers)))
}

func TestWrongOptions(t *testing.T) {
	for args, want := range map[string]string{
		"--workers=0":      "--workers is 0, it must be at least 1; see settings --help",
		"--config-map=A/b": `--config-map "A/b" is not the name of a ConfigMap: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character; see settings --help`,
		"--config-map=":    `--config-map "" is not the name of a ConfigMap: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character; see settings --help`,
		"harbour":          `unexpected argument "harbour"; see settings --help`,
		"--moon":           "unknown flag: --moon; see settings --help",
	} {
		_, err := parseOptions([]string{args}, io.Discard)
		require.EqualError(t, err, want)
	}
	var help bytes.Buffer
	_, err := parseOptions([]string{"--help"}, &help)
	require.ErrorIs(t, err, pflag.ErrHelp)
	assert.Contains(t, help.String(), "Usage:\n  settings [flags]\n")
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
			go func() { code <- Run(ctx, append(args, "--kubeconfig", operator), &stdout, &stderr) }()
			s.layer("defaults", 0, data{"colour": "blue"})
			s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
			cancel()
			assert.Zero(t, <-code)
			assert.Empty(t, stdout.String()+stderr.String())
		})
	}

	t.Run("without rights", func(t *testing.T) {
		var stderr bytes.Buffer
		assert.Equal(t, 1, Run(t.Context(), []string{"-A", "--kubeconfig", nobody}, io.Discard, &stderr))
		assert.Equal(t, `error: settingslayers.settings.example.com is forbidden: User "jane" cannot list resource "settingslayers" in API group "settings.example.com" at the cluster scope; ask an administrator for that verb on that resource`+"\n", stderr.String())
	})
	t.Run("a name that the role does not allow", func(t *testing.T) {
		var stderr bytes.Buffer
		assert.Equal(t, 1, Run(t.Context(), []string{"-A", "--kubeconfig", operator, "--config-map=other"}, io.Discard, &stderr))
		assert.Equal(t, `error: configmaps "other" is forbidden: User "operator" cannot list resource "configmaps" in API group "" at the cluster scope; ask an administrator for that verb on that resource`+"\n", stderr.String())
	})
	t.Run("nothing listens", func(t *testing.T) {
		var stderr bytes.Buffer
		content, err := os.ReadFile(operator)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "kubeconfig")
		require.NoError(t, os.WriteFile(path, serverLine.ReplaceAll(content, []byte("server: https://127.0.0.1:1")), 0o600))
		assert.Equal(t, 1, Run(t.Context(), []string{"--kubeconfig", path}, io.Discard, &stderr))
		assert.Equal(t, "error: https://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)\n", stderr.String())
	})
	t.Run("no kubeconfig", func(t *testing.T) {
		var stderr bytes.Buffer
		assert.Equal(t, 1, Run(t.Context(), []string{"--kubeconfig=/nowhere"}, io.Discard, &stderr))
		assert.Equal(t, "error: stat /nowhere: no such file or directory; correct --kubeconfig, --context or KUBECONFIG\n", stderr.String())
	})
}

func withoutTheCRD(t *testing.T, c *testcluster.Cluster) {
	err := operate(t.Context(), c.Config, options{configMap: "settings", workers: 1})
	require.EqualError(t, err, "the cluster does not know SettingsLayers yet; to teach it: kubectl apply -f config/crd")
}

package cli

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfig writes a file whose context, cluster and namespace have the one name.
func kubeconfig(t *testing.T, name string) (path string) {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.CurrentContext = name
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, Namespace: name}
	config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + name}
	path = filepath.Join(t.TempDir(), name)
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return path
}

func TestTheFlagsDecideBeforeTheEnvironment(t *testing.T) {
	one, two := kubeconfig(t, "one"), kubeconfig(t, "two")
	t.Setenv("KUBECONFIG", one+string(filepath.ListSeparator)+two)
	for name, tc := range map[string]struct {
		flags           ConfigFlags
		host, namespace string
	}{
		"the first of KUBECONFIG has the current context": {ConfigFlags{}, "https://one", "one"},
		"--context": {ConfigFlags{Context: "two"}, "https://two", "two"},
		"--kubeconfig, with a namespace of its own": {ConfigFlags{Kubeconfig: kubeconfig(t, "three"), Namespace: "harbour"}, "https://three", "harbour"},
	} {
		t.Run(name, func(t *testing.T) {
			config, namespace, err := tc.flags.Load()
			require.NoError(t, err)
			assert.Equal(t, tc.host, config.Host)
			assert.Equal(t, tc.namespace, namespace)
			assert.Negative(t, config.QPS, "client-go would limit it to 5 requests a second")
		})
	}
}

func TestAConfigurationThatIsNone(t *testing.T) {
	before := clientcmd.RecommendedHomeFile // clientcmd reads HOME only once
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = before })
	clientcmd.RecommendedHomeFile = filepath.Join(t.TempDir(), "config")
	t.Setenv("KUBECONFIG", "")
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, []byte("apiVersion: [v1"), 0o600))
	for want, flags := range map[string]ConfigFlags{
		"no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG, or one of its contexts with --context": {},
		"no such file or directory; correct --kubeconfig, --context or KUBECONFIG":                                                 {Kubeconfig: broken + "er"},
		`context "moon" does not exist; correct --kubeconfig, --context or KUBECONFIG`:                                             {Kubeconfig: kubeconfig(t, "one"), Context: "moon"},
		"did not find expected ',' or ']'; correct --kubeconfig, --context or KUBECONFIG":                                          {Kubeconfig: broken},
	} {
		_, _, err := flags.Load()
		require.ErrorContains(t, err, want)
	}
}

func TestTheFlagsOfAnOperator(t *testing.T) {
	file := kubeconfig(t, "one")
	for name, tc := range map[string]struct {
		args      []string
		namespace string
		workers   int
		err       string
	}{
		"none: the namespace is that of the context": {namespace: "one", workers: 8},
		"a namespace":         {args: []string{"-n", "harbour"}, namespace: "harbour", workers: 8},
		"all namespaces":      {args: []string{"-n", "harbour", "-all-namespaces"}, workers: 8},
		"one worker":          {args: []string{"--workers=1"}, namespace: "one", workers: 1},
		"no worker":           {args: []string{"--workers=0"}, err: "-workers is 0; it must be at least 1"},
		"fewer workers still": {args: []string{"--workers=-3"}, err: "-workers is -3; it must be at least 1"},
		"a word":              {args: []string{"harbour", "-n", "harbour"}, err: `"harbour" isn't a flag, and all flags after it would be ignored`},
	} {
		t.Run(name, func(t *testing.T) {
			var f OperatorFlags
			flags := flag.NewFlagSet("operator", flag.ContinueOnError)
			f.AddFlags(flags, 8, "Ats")
			require.NoError(t, flags.Parse(append([]string{"-kubeconfig", file}, tc.args...)))
			_, namespace, err := f.Load()
			if tc.err != "" {
				require.EqualError(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.namespace, namespace)
			assert.Equal(t, tc.workers, f.Workers)
		})
	}
}

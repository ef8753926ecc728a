package cli

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// places are those where a configuration can be, each with a cluster of its own
// name. A test sets what it needs.
type places struct {
	flag    string   // a file for --kubeconfig
	env     []string // files for KUBECONFIG
	home    bool     // ~/.kube/config is there
	context string   // --context
}

// load runs Load where only these places exist. The files flag, one and two are
// there, with a context of that name; broken does not parse; blank is empty; and
// dangling has a context whose cluster is missing. "DIR" in the error stands for
// their folder.
func (p places) load(t *testing.T) (*rest.Config, error) {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"flag", "one", "two", "dangling"} {
		writeKubeconfig(t, path(name), name)
	}
	config, err := clientcmd.LoadFromFile(path("dangling"))
	require.NoError(t, err)
	clear(config.Clusters)
	require.NoError(t, clientcmd.WriteToFile(*config, path("dangling")))
	require.NoError(t, os.WriteFile(path("broken"), []byte("apiVersion: [v1"), 0o600))
	require.NoError(t, os.WriteFile(path("blank"), nil, 0o600))

	// clientcmd reads HOME only once.
	before := clientcmd.RecommendedHomeFile
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = before })
	clientcmd.RecommendedHomeFile = path("home")
	if p.home {
		writeKubeconfig(t, path("home"), "home")
	}
	var env []string
	for _, name := range p.env {
		env = append(env, path(name))
	}
	t.Setenv("KUBECONFIG", strings.Join(env, string(filepath.ListSeparator)))

	f := ConfigFlags{Context: p.context}
	if p.flag != "" {
		f.Kubeconfig = path(p.flag)
	}
	loaded, _, err := f.Load()
	if err != nil {
		err = errors.New(strings.ReplaceAll(err.Error(), dir, "DIR"))
	}
	return loaded, err
}

// writeKubeconfig writes a kubeconfig whose context, cluster, user and namespace
// all have the one name.
func writeKubeconfig(t *testing.T, path, name string) {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.CurrentContext = name
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: name}
	config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + name}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: name}
	require.NoError(t, clientcmd.WriteToFile(*config, path))
}

func TestTheFirstPlaceWins(t *testing.T) {
	tests := map[string]struct {
		places places
		want   string
	}{
		"--kubeconfig before everything":               {places{flag: "flag", env: []string{"one"}, home: true}, "https://flag"},
		"KUBECONFIG before ~/.kube/config":             {places{env: []string{"one"}, home: true}, "https://one"},
		"~/.kube/config at last":                       {places{home: true}, "https://home"},
		"the first of a list has the current context":  {places{env: []string{"one", "two"}}, "https://one"},
		"a context of the second of a list":            {places{env: []string{"one", "two"}, context: "two"}, "https://two"},
		"a file that is missing is left out of a list": {places{env: []string{"missing", "two"}}, "https://two"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			config, err := tc.places.load(t)
			require.NoError(t, err)
			assert.Equal(t, tc.want, config.Host)
			assert.Zero(t, config.Timeout, "it would end a watch")
		})
	}
}

func TestABrokenConfigurationIsAnError(t *testing.T) {
	const none = "no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG"
	const correct = "; correct --kubeconfig, --context or KUBECONFIG"
	tests := map[string]struct {
		places places
		want   string
	}{
		"no configuration anywhere":     {places{}, none},
		"a file without contexts":       {places{flag: "blank"}, none},
		"a context without its cluster": {places{flag: "dangling"}, none},
		"--kubeconfig names no file, though others exist": {places{flag: "missing", env: []string{"one"}, home: true},
			"stat DIR/missing: no such file or directory" + correct},
		"KUBECONFIG names no file, though others exist": {places{env: []string{"missing"}, home: true}, none},
		"an unknown context":                            {places{flag: "one", context: "moon"}, `context "moon" does not exist` + correct},
		"a file that does not parse":                    {places{env: []string{"one", "broken"}}, `error loading config file "DIR/broken": `},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tc.places.load(t)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestTheNamespace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, path, "harbour")
	_, namespace, err := (&ConfigFlags{Kubeconfig: path}).Load()
	require.NoError(t, err)
	assert.Equal(t, "harbour", namespace, "that of the context")
	_, namespace, err = (&ConfigFlags{Kubeconfig: path, Namespace: "coast"}).Load()
	require.NoError(t, err)
	assert.Equal(t, "coast", namespace)
}

func TestAnOperatorWorksInTheNamespacesOfItsFlags(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, kubeconfig, "one")
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "one"}, // that of the context
		{[]string{"-n", "harbour"}, "harbour"},
		{[]string{"-n", "harbour", "-all-namespaces"}, ""},
	} {
		var f ConfigFlags
		flags := flag.NewFlagSet("operator", flag.ContinueOnError)
		f.AddOperatorFlags(flags)
		require.NoError(t, flags.Parse(append([]string{"-kubeconfig", kubeconfig}, test.args...)))
		config, namespace, err := f.Load()
		require.NoError(t, err)
		assert.Contains(t, config.Host, "one")
		assert.Equal(t, test.want, namespace)
	}
}

package main

import (
	"errors"
	"io/fs"
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

// places are all the places where a configuration can be, each with a cluster
// of its own name. A test switches on what it needs.
type places struct {
	flag    string   // a file for --kubeconfig
	env     []string // files for KUBECONFIG
	pod     error    // nil: this is a pod
	home    bool     // ~/.kube/config is there
	context string   // --context
}

// load runs loadConfig where only these places exist. The files flag, one and
// two are there, with a context of that name; broken does not parse; blank is
// empty; aimless has a context but none is current; and dangling has a context
// whose cluster is missing. "DIR" in the error stands for their folder.
func (p places) load(t *testing.T) (*rest.Config, error) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	path := func(name string) string { return filepath.Join(dir, name) }

	for _, name := range []string{"flag", "one", "two", "aimless", "dangling"} {
		writeKubeconfig(t, path(name), name, &clientcmdapi.Cluster{Server: "https://" + name})
	}
	edit(t, path("aimless"), func(c *clientcmdapi.Config) { c.CurrentContext = "" })
	edit(t, path("dangling"), func(c *clientcmdapi.Config) { clear(c.Clusters) })
	require.NoError(t, os.WriteFile(path("broken"), []byte("apiVersion: [v1"), 0o600))
	require.NoError(t, os.WriteFile(path("blank"), nil, 0o600))
	if p.home {
		require.NoError(t, os.Mkdir(path(".kube"), 0o700))
		writeKubeconfig(t, path(".kube/config"), "home", &clientcmdapi.Cluster{Server: "https://home"})
	}

	var env []string
	for _, name := range p.env {
		env = append(env, path(name))
	}
	t.Setenv("KUBECONFIG", strings.Join(env, string(filepath.ListSeparator)))

	inClusterConfig = func() (*rest.Config, error) {
		if p.pod != nil {
			return nil, p.pod
		}
		return &rest.Config{Host: "https://pod"}, nil
	}
	t.Cleanup(func() { inClusterConfig = rest.InClusterConfig })

	flag := ""
	if p.flag != "" {
		flag = path(p.flag)
	}
	config, err := loadConfig(flag, p.context)
	if err != nil {
		err = errors.New(strings.ReplaceAll(err.Error(), dir, "DIR"))
	}
	return config, err
}

func edit(t *testing.T, path string, change func(*clientcmdapi.Config)) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(path)
	require.NoError(t, err)
	change(config)
	require.NoError(t, clientcmd.WriteToFile(*config, path))
}

var (
	noPod   = rest.ErrNotInCluster
	noToken = &fs.PathError{Op: "open", Path: "token", Err: fs.ErrNotExist}
)

func TestTheFirstPlaceWins(t *testing.T) {
	tests := map[string]struct {
		places places
		want   string
	}{
		"--kubeconfig before everything":               {places{flag: "flag", env: []string{"one"}, home: true}, "https://flag"},
		"KUBECONFIG before the pod":                    {places{env: []string{"one"}, home: true}, "https://one"},
		"the pod before ~/.kube/config":                {places{home: true}, "https://pod"},
		"~/.kube/config at last":                       {places{pod: noPod, home: true}, "https://home"},
		"a pod without service account is none":        {places{pod: noToken, home: true}, "https://home"},
		"a context is looked for in files, not a pod":  {places{context: "home", home: true}, "https://home"},
		"the first of a list has the current context":  {places{env: []string{"one", "two"}}, "https://one"},
		"a context of the second of a list":            {places{env: []string{"one", "two"}, context: "two"}, "https://two"},
		"a file that is missing is left out of a list": {places{env: []string{"missing", "two"}}, "https://two"},
		"--context chooses in the file":                {places{flag: "aimless", context: "aimless"}, "https://aimless"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			config, err := tc.places.load(t)
			require.NoError(t, err)
			assert.Equal(t, tc.want, config.Host)
		})
	}
}

func TestEveryBrokenConfigurationHasItsSentence(t *testing.T) {
	const nowhere = "no cluster configuration found: --kubeconfig is not given, KUBECONFIG is not set, %, " +
		"and DIR/.kube/config does not exist; name a kubeconfig with --kubeconfig"
	tests := map[string]struct {
		places places
		want   string
	}{
		"no configuration anywhere": {places{pod: noPod},
			strings.Replace(nowhere, "%", "this is not a pod", 1)},
		"a pod without service account": {places{pod: noToken},
			strings.Replace(nowhere, "%", "this pod has no service account (open token: file does not exist)", 1)},
		"a context, but only a pod": {places{context: "one"},
			strings.Replace(nowhere, "%", "a pod has no context to choose", 1)},
		"--kubeconfig names no file, though others exist": {places{flag: "missing", env: []string{"one"}, home: true},
			"kubeconfig DIR/missing does not exist; correct the path in --kubeconfig or KUBECONFIG"},
		"KUBECONFIG names no file, though others exist": {places{env: []string{"missing"}, home: true},
			"kubeconfig DIR/missing does not exist; correct the path in --kubeconfig or KUBECONFIG"},
		"a file without contexts": {places{flag: "blank"},
			"kubeconfig DIR/blank has no contexts; name another file with --kubeconfig"},
		"a file without a current context": {places{flag: "aimless"},
			"kubeconfig DIR/aimless has no current context; choose one with --context: aimless"},
		"an unknown context": {places{env: []string{"two", "one"}, context: "moon"},
			`context "moon" does not exist in DIR/two` + string(filepath.ListSeparator) + `DIR/one; choose one with --context: one, two`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tc.places.load(t)
			require.EqualError(t, err, tc.want)
		})
	}

	// These contain the words of other packages.
	t.Run("a file that does not parse", func(t *testing.T) {
		_, err := places{env: []string{"one", "broken"}}.load(t)
		require.ErrorContains(t, err, `"DIR/broken"`)
		require.ErrorContains(t, err, "; repair the file, or name another one with --kubeconfig")
	})
	t.Run("a context without its cluster", func(t *testing.T) {
		_, err := places{flag: "dangling"}.load(t)
		require.ErrorContains(t, err, `context "dangling" in DIR/dangling: `)
		require.ErrorContains(t, err, "; repair the kubeconfig")
	})
}

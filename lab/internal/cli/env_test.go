package cli

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsForThisMachineUsesNoProxy(t *testing.T) {
	for name, tc := range map[string]struct {
		env  map[string]string
		want string
	}{
		"no proxy":                 {map[string]string{"NO_PROXY": "intranet"}, ""},
		"a proxy":                  {map[string]string{"HTTPS_PROXY": "http://proxy:3128"}, "127.0.0.1,localhost"},
		"a proxy, as curl reads":   {map[string]string{"http_proxy": "http://proxy:3128"}, "127.0.0.1,localhost"},
		"some hosts are exempt":    {map[string]string{"ALL_PROXY": "socks5://proxy", "no_proxy": ".corp,10.0.0.0/8"}, ".corp,10.0.0.0/8,127.0.0.1,localhost"},
		"every host is exempt":     {map[string]string{"https_proxy": "http://proxy:3128", "NO_PROXY": "*"}, "*"},
		"the second time":          {map[string]string{"https_proxy": "http://proxy:3128", "NO_PROXY": "127.0.0.1,localhost"}, "127.0.0.1,localhost"},
		"one of the two is exempt": {map[string]string{"https_proxy": "http://proxy:3128", "NO_PROXY": "localhost"}, "localhost,127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, loopbackExempt(func(name string) string { return tc.env[name] }))
		})
	}
}

func TestEnvSaysThatThereIsNoLab(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "lab")
	out, errOut, err := runLab(t, "--dir", folder, "env")
	require.NoError(t, err, "a shell may read it before")
	assert.Contains(t, out, "export KUBECONFIG=")
	assert.Equal(t, "lab: there is no lab in "+folder+" (to start one: lab up)\n", errOut)
}

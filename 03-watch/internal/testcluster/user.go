package testcluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// UserKubeconfig returns a kubeconfig for a new user without any rights.
func (c *Cluster) UserKubeconfig(t testing.TB, name string) string {
	t.Helper()
	c.adding.Lock()
	user, err := c.AddUser(envtest.User{Name: name}, nil)
	c.adding.Unlock()
	require.NoError(t, err)
	content, err := user.KubeConfig()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

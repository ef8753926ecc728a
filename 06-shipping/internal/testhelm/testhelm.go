// Package testhelm gives tests Helm, in the version that tools/pinned/helm/go.mod names.
package testhelm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/internal/testcluster"
)

// Program builds Helm, once, and returns its path. It is for tests in a folder of the stage.
func Program(t testing.TB) string {
	t.Helper()
	testcluster.DependOnInputs() // tools/pinned/helm is another module
	path, err := program()
	require.NoError(t, err)
	return path
}

var program = sync.OnceValues(func() (string, error) {
	command := exec.Command("go", "tool", "-n", "helm")
	command.Dir = filepath.Join("..", "..", "tools", "helm")
	command.Env = append(os.Environ(), "GOWORK=off")
	path, err := command.Output()
	return strings.TrimSpace(string(path)), err
})

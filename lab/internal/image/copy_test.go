package image

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The kubelet copies the programs of one container while it starts others.
func TestACopyCanBeExecutedAtOnce(t *testing.T) {
	program, err := exec.LookPath("true")
	require.NoError(t, err)
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 50 {
				to := filepath.Join(dir, fmt.Sprintf("%d-%d", i, j))
				assert.NoError(t, copyFile(program, to))
				assert.NoError(t, os.Chmod(to, 0o700))
				assert.NoError(t, exec.Command(to).Run())
			}
		})
	}
	all.Wait()
}

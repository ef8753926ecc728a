package mounted

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBelow(t *testing.T) {
	mounts, err := Below("/") // on any machine something like /dev is
	require.NoError(t, err)
	assert.NotEmpty(t, mounts)
	assert.NotContains(t, mounts, "/")

	link := filepath.Join(t.TempDir(), "root")
	require.NoError(t, os.Symlink("/", link))
	through, err := Below(link)
	require.NoError(t, err)
	assert.Equal(t, mounts, through)

	mounts, err = Below(t.TempDir())
	require.NoError(t, err)
	assert.Empty(t, mounts)
}

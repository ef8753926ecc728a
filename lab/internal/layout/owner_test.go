package layout

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFolderThatOthersMayWriteIntoIsRefused(t *testing.T) {
	marker := fmt.Sprintf(markerText, format)
	for sentence, tc := range map[string]struct {
		files   map[string]string
		mode    os.FileMode
		refused bool
	}{
		"a lab's, for all":       {map[string]string{"README": marker}, 0o777, true},
		"a lab's, for the group": {map[string]string{"README": marker}, 0o770, true},
		"a lab's, like /tmp":     {map[string]string{"README": marker}, 0o777 | os.ModeSticky, true},
		"an empty one":           {nil, 0o777, true},
		"a lab's, to read":       {map[string]string{"README": marker}, 0o755, false},
		"a lab's, closed":        {map[string]string{"README": marker}, 0o700, false},
		"an empty one, to read":  {nil, 0o755, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newFolder(t, tc.files)
			require.NoError(t, os.Chmod(l.Root(), tc.mode))
			_, err := l.Exists()
			if !tc.refused {
				require.NoError(t, err)
				require.NoError(t, l.Create())
				return
			}
			require.ErrorContains(t, err, "other users may write into "+l.Root())
			require.ErrorContains(t, err, "choose another folder with --dir or LAB_DIR")
			require.ErrorContains(t, l.Create(), "other users may write into "+l.Root())
			assert.NoDirExists(t, l.PKI())
		})
	}
}

// Somebody was there before the folder was closed.
func TestAFolderForKeysThatOthersMayWriteIntoIsRefused(t *testing.T) {
	l, err := New(filepath.Join(t.TempDir(), "lab"))
	require.NoError(t, err)
	require.NoError(t, l.Create())
	require.NoError(t, os.Chmod(l.PKI(), 0o777))
	require.ErrorContains(t, l.Create(), "other users may write into "+l.PKI())
}

func TestAFolderOfAnotherUserIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, checkOwner(dir, os.Geteuid()))
	require.ErrorContains(t, checkOwner(dir, os.Geteuid()+1), "belongs to another user")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	require.NoError(t, checkOwner(link, os.Geteuid()), "a link of one's own")
	require.ErrorContains(t, checkOwner(link, os.Geteuid()+1), "belongs to another user")
	require.NoError(t, checkOwner(filepath.Join(dir, "none"), os.Geteuid()), "what is not there belongs to nobody")
}

package layout

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oldMarker is what was written before the format had a number.
const oldMarker = "This folder is written by the lab. To delete it, and all that runs from it: lab reset\n"

func newFolder(t *testing.T, files map[string]string) Layout {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	l, err := New(dir)
	require.NoError(t, err)
	return l
}

func TestWhoseFolderItIs(t *testing.T) {
	const foreign = "is not empty and was not written by the lab"
	for name, tc := range map[string]struct {
		files   map[string]string
		exists  bool
		wantErr string
	}{
		"an empty folder":                         {nil, false, ""},
		"another command is making it":            {map[string]string{"README.new-123": "This fo"}, false, ""},
		"another command is deleting it":          {map[string]string{"command.lock": ""}, false, ""},
		"the lab's":                               {map[string]string{"README": fmt.Sprintf(markerText, format), "state.json": "{}"}, true, ""},
		"the lab's, before formats had a number":  {map[string]string{"README": oldMarker, "state.json": "{}"}, true, ""},
		"a newer lab's":                           {map[string]string{"README": fmt.Sprintf(markerText, format+1)}, false, "was written by a newer lab, in format 2"},
		"somebody's with a README":                {map[string]string{"README": "My thesis\n", "data.txt": "1"}, false, foreign},
		"somebody's who writes about the lab":     {map[string]string{"README": "> " + oldMarker}, false, foreign},
		"somebody's with nothing but a README":    {map[string]string{"README": ""}, false, foreign},
		"somebody's without any":                  {map[string]string{"data.txt": "1"}, false, foreign},
		"somebody's with what is no number":       {map[string]string{"README.new-york": "1"}, false, foreign},
		"somebody's beside an unfinished marker":  {map[string]string{"README.new-123": "", "data.txt": "1"}, false, foreign},
		"somebody's with a file that sounds ours": {map[string]string{"kubeconfig": "1"}, false, foreign},
	} {
		t.Run(name, func(t *testing.T) {
			l := newFolder(t, tc.files)
			exists, err := l.Exists()
			assert.Equal(t, tc.exists, exists)
			if tc.wantErr == "" {
				require.NoError(t, err)
				require.NoError(t, l.Create())
				return
			}
			require.ErrorContains(t, err, tc.wantErr)
			require.ErrorContains(t, err, "choose another folder with --dir or LAB_DIR")
			require.ErrorContains(t, l.Create(), tc.wantErr)
			left, err := l.names()
			require.NoError(t, err)
			assert.Len(t, left, len(tc.files), "something was written")
			for name, content := range tc.files {
				data, err := os.ReadFile(l.Join(name))
				require.NoError(t, err)
				assert.Equal(t, content, string(data))
			}
		})
	}
}

func TestRemoveDeletesTheFolder(t *testing.T) {
	l := newFolder(t, nil)
	require.NoError(t, l.Create())
	for _, name := range []string{"settings.json", "state.json.new-12", "settings.json.broken", "README.new-12"} {
		require.NoError(t, os.WriteFile(l.Join(name), nil, 0o600))
	}
	left, err := l.Remove(nil)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.NoDirExists(t, l.Root())
}

func TestRemoveLeavesWhatIsNotTheLabs(t *testing.T) {
	l := newFolder(t, nil)
	require.NoError(t, l.Create())
	for _, name := range []string{"kubeconfig", "kubeconfig.mine", "kubeconfig.new", "images.newer.tar", "logs.new-york", "notes", "pki.new-"} {
		require.NoError(t, os.WriteFile(l.Join(name), nil, 0o600))
	}
	mine := []string{"images.newer.tar", "kubeconfig.mine", "kubeconfig.new", "logs.new-york", "notes", "pki.new-"}
	elsewhere := t.TempDir()
	require.NoError(t, os.Remove(l.Images()))
	require.NoError(t, os.Symlink(elsewhere, l.Images()))
	for range 2 {
		left, err := l.Remove(nil)
		require.NoError(t, err)
		assert.Equal(t, mine, left)
		names, err := l.names()
		require.NoError(t, err)
		assert.Equal(t, append([]string{"README"}, mine...), names, "it stays a lab's folder")
	}
	assert.DirExists(t, elsewhere)
}

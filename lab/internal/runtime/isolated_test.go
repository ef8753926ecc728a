package runtime

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheIsolationIsSeenFromOutside(t *testing.T) {
	w := newWorld(t)
	assert.Contains(t, Isolation(w.dir), "not known", "no kubelet has run here")
	for sentence, tc := range map[string]struct {
		found isolation
		why   error
		want  string
	}{
		"as root":                  {mountNamespace, nil, "its own root directory, and the user that the pod asks for"},
		"as another user":          {userNamespace, nil, "the user that the pod asks for is you"},
		"where there is none":      {noIsolation, nil, "none: it sees the files of this machine"},
		"where the kernel forbids": {noIsolation, errors.New("mount: permission denied"), "below $LAB_ROOT (mount: permission denied)"},
	} {
		t.Run(sentence, func(t *testing.T) {
			w.noteIsolation(tc.found, tc.why)
			assert.Contains(t, Isolation(w.options.Root), tc.want)
		})
	}
	found := w.isolation
	w.noteIsolation(noIsolation, errors.New("mount: permission denied"))
	w.reopen()
	require.Equal(t, found, w.isolation)
	assert.NotContains(t, Isolation(w.options.Root), "permission denied", "the new one has noted what it has found")
	require.NoError(t, os.WriteFile(filepath.Join(w.options.Root, isolationFile), nil, 0o600))
	assert.Contains(t, Isolation(w.options.Root), "not known")
}

package pods

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnknownImage(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "stranger", `
containers: [{name: main, image: "nginx:1.29"}]`)
	expectEvent(t, ns, "stranger", "Failed", "nginx:1.29")
	expectEvent(t, ns, "stranger", "Failed", "busybox")
	expectEvent(t, ns, "stranger", "Failed", "lab load IMAGE.tar")
	expectEvent(t, ns, "stranger", "Failed", "ErrImagePull")
}

func TestLoadRefusesWhatIsNotAnImage(t *testing.T) {
	t.Parallel()
	notAnImage := filepath.Join(t.TempDir(), "notes.txt")
	require.NoError(t, os.WriteFile(notAnImage, []byte("hello"), 0o600))
	for name, file := range map[string]string{
		"a missing file": filepath.Join(t.TempDir(), "missing.tar"),
		"a text file":    notAnImage,
	} {
		_, err := lab.Command(t.Context(), "load", file)
		if assert.Error(t, err, name) {
			assert.Contains(t, err.Error(), filepath.Base(file), name)
		}
	}
}

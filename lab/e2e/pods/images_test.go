package pods

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestImageByDigest(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "pinned", fmt.Sprintf(`
containers: [{name: main, image: "registry.example/any/name@%s"}]`, testDigest))
	pod := expectPhase(t, ns, "pinned", corev1.PodRunning)
	assert.Equal(t, "docker.io/library/testserver@"+testDigest.String(), pod.Status.ContainerStatuses[0].ImageID)

	other := "testserver@sha256:" + strings.Repeat("0", 64)
	createPod(t, ns, "another", fmt.Sprintf(`
containers: [{name: main, image: %q}]`, other))
	expectEvent(t, ns, "another", "Failed", other)
	expectEvent(t, ns, "another", "Failed", "is not in the lab: it knows busybox, pause, docker.io/library/testserver@"+testDigest.String()+"; load others with: lab load IMAGE.tar")
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

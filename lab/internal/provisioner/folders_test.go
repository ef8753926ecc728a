package provisioner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
)

func TestOnlyTheFolderOfTheClaimIsDeleted(t *testing.T) {
	for name, path := range map[string]func(dir string) string{
		"a path elsewhere":             func(dir string) string { return filepath.Join(filepath.Dir(dir), "elsewhere") },
		"the folder of another claim":  func(dir string) string { return filepath.Join(dir, "default-other-5678") },
		"the folder of all volumes":    func(dir string) string { return dir },
		"a path that leads out":        func(dir string) string { return dir + "/default-data-1234/../../elsewhere" },
		"a path that begins like ours": func(dir string) string { return dir + "/default-data-1234-more" },
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "volumes")
			for _, folder := range []string{"elsewhere", "volumes/default-data-1234", "volumes/default-data-1234-more", "volumes/default-other-5678"} {
				makeFolder(t, parent, folder)
			}
			volume := newReleased(dir, func(v *corev1.PersistentVolume) { v.Spec.HostPath.Path = path(dir) })
			require.ErrorContains(t, folders{dir}.remove(volume), "delete the PersistentVolume yourself")
			expectNames(t, dir, "default-data-1234", "default-data-1234-more", "default-other-5678")
			assert.FileExists(t, filepath.Join(parent, "elsewhere", "precious"))

			events := record.NewFakeRecorder(100)
			startIn(t, dir, fake.NewClientset(volume), events)
			expectEvent(t, events, "Warning VolumeFailedDelete")
		})
	}
}

// The claim of a volume, too, is what somebody has written into it.
func TestAClaimWhoseNameIsAPathLeadsNowhere(t *testing.T) {
	parent := t.TempDir()
	elsewhere := makeFolder(t, parent, "elsewhere-x-1234")
	dir := filepath.Join(parent, "volumes")
	require.NoError(t, os.Mkdir(dir, 0o700))
	volume := newReleased(dir, func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name = "../elsewhere", "x"
		v.Spec.HostPath.Path = elsewhere
	})
	require.ErrorContains(t, folders{dir}.remove(volume), "escapes")
	assert.FileExists(t, filepath.Join(elsewhere, "precious"))
}

func TestNoLinkIsFollowed(t *testing.T) {
	parent := t.TempDir()
	dir, elsewhere := filepath.Join(parent, "volumes"), makeFolder(t, parent, "elsewhere")
	folder := makeFolder(t, dir, "default-data-1234")
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(folder, "link")))
	require.NoError(t, folders{dir}.remove(newReleased(dir)))
	assert.NoDirExists(t, folder)

	require.NoError(t, os.Symlink(elsewhere, folder))
	require.NoError(t, folders{dir}.remove(newReleased(dir)))
	expectNames(t, dir)
	assert.FileExists(t, filepath.Join(elsewhere, "precious"))
}

func TestAFolderThatIsGoneIsDeleted(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, folders{dir}.remove(newReleased(dir)))
}

func TestAFolderHasANameThatAFileMayHave(t *testing.T) {
	f := folders{t.TempDir()}
	claim := newVolume("", newClaim(), defaultClass(), "").Spec.ClaimRef
	claim.Namespace, claim.Name, claim.UID = strings.Repeat("n", 63), strings.Repeat("c", 253), "8d6b2b1c-9a0e-4b57-a5a6-7f7c6b1f6c55"
	path, err := f.create(claim)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(path, "-"+string(claim.UID)))
	again, err := f.create(claim)
	require.NoError(t, err)
	assert.Equal(t, path, again)
}

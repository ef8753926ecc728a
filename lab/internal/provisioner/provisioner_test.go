package provisioner

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	"example.com/hacking-a-controller/lab/internal/testenv"
)

func newClaim(change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "data", UID: "1234",
			Annotations: map[string]string{annStorageProvisioner: Name},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new(ClassName),
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		},
	}
	for _, c := range change {
		c(claim)
	}
	return claim
}

// newReleased returns the volume of a claim that was deleted.
func newReleased(dir string, change ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	volume := newVolume("pvc-1234", newClaim(), defaultClass(), "some-node")
	volume.Spec.HostPath.Path = filepath.Join(dir, "default-data-1234")
	volume.Status.Phase = corev1.VolumeReleased
	for _, c := range change {
		c(volume)
	}
	return volume
}

// start runs the provisioner in an empty folder, which it returns.
func start(t *testing.T, objects ...runtime.Object) (kubernetes.Interface, *record.FakeRecorder, string) {
	t.Helper()
	dir := t.TempDir()
	client, events := fake.NewClientset(objects...), record.NewFakeRecorder(100)
	startIn(t, dir, client, events)
	return client, events, dir
}

func startIn(t *testing.T, dir string, client kubernetes.Interface, events record.EventRecorder) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- Run(ctx, client, dir, "some-node", events, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, testenv.Timeout(), 10*time.Millisecond)
}

func expectEvent(t *testing.T, events *record.FakeRecorder, want string) {
	t.Helper()
	select {
	case got := <-events.Events:
		assert.Contains(t, got, want)
	case <-time.After(testenv.Timeout()):
		require.FailNow(t, "no event", want)
	}
}

func TestAClaimGetsAFolder(t *testing.T) {
	retaining := defaultClass()
	retaining.Name, retaining.ReclaimPolicy = "kept", new(corev1.PersistentVolumeReclaimRetain)
	claim := newClaim(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("kept") })
	client, events, dir := start(t, retaining, claim)
	expectEvent(t, events, "Normal ProvisioningSucceeded")

	volume, err := client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-1234", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "default-data-1234"), volume.Spec.HostPath.Path)
	assert.Equal(t, corev1.PersistentVolumeReclaimRetain, volume.Spec.PersistentVolumeReclaimPolicy)
	assert.Equal(t, claim.UID, volume.Spec.ClaimRef.UID)
	info, err := os.Stat(volume.Spec.HostPath.Path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o777), info.Mode().Perm(), "a pod may run as any user")

	class, err := client.StorageV1().StorageClasses().Get(t.Context(), ClassName, metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, storagev1.VolumeBindingImmediate, *class.VolumeBindingMode)
}

// Older manifests name the class so, and the API server still takes it.
func TestAClaimMayNameItsClassInAnAnnotation(t *testing.T) {
	client, events, _ := start(t, newClaim(func(c *corev1.PersistentVolumeClaim) {
		c.Spec.StorageClassName, c.Annotations[corev1.BetaStorageClassAnnotation] = nil, ClassName
	}))
	expectEvent(t, events, "Normal ProvisioningSucceeded")
	volume, err := client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-1234", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, ClassName, volume.Spec.StorageClassName)
}

func TestAClaimThatIsNotOursIsLeftAlone(t *testing.T) {
	for name, change := range map[string]func(*corev1.PersistentVolumeClaim){
		"it is bound":                   func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "another" },
		"it is being deleted":           func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = new(metav1.Now()) },
		"it is for another provisioner": func(c *corev1.PersistentVolumeClaim) { c.Annotations[annStorageProvisioner] = "another" },
		"the controller manager has not said who is to make it": func(c *corev1.PersistentVolumeClaim) { c.Annotations = nil },
	} {
		t.Run(name, func(t *testing.T) { assert.False(t, toProvision(newClaim(change))) })
	}
	assert.True(t, toProvision(newClaim()))
}

func TestAClaimThatCannotBeMetIsToldWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.PersistentVolumeClaim)
		want   string
	}{
		"a block device": {func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = new(corev1.PersistentVolumeBlock) }, "no block devices"},
		"a copy":         {func(c *corev1.PersistentVolumeClaim) { c.Spec.DataSource = &corev1.TypedLocalObjectReference{} }, "copies no volumes"},
		"a choice":       {func(c *corev1.PersistentVolumeClaim) { c.Spec.Selector = &metav1.LabelSelector{} }, "no labels"},
	} {
		t.Run(name, func(t *testing.T) {
			_, events, dir := start(t, newClaim(tc.change))
			expectEvent(t, events, "Warning ProvisioningFailed the lab")
			assert.Contains(t, unsupported(newClaim(tc.change)), tc.want)
			expectNames(t, dir)
		})
	}
}

func TestAFolderThatCannotBeMadeIsTriedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "volumes")
	client, events := fake.NewClientset(newClaim()), record.NewFakeRecorder(100)
	startIn(t, dir, client, events)
	expectEvent(t, events, "Warning ProvisioningFailed making the folder of a volume: ")
	require.NoError(t, os.Mkdir(dir, 0o700))
	eventually(t, func() bool {
		_, err := client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-1234", metav1.GetOptions{})
		return err == nil
	})
}

func TestAReleasedVolumeIsDeletedWithItsFolder(t *testing.T) {
	dir := t.TempDir()
	folder := makeFolder(t, dir, "default-data-1234")
	client := fake.NewClientset(newReleased(dir))
	startIn(t, dir, client, record.NewFakeRecorder(100))
	eventually(t, func() bool {
		_, err := client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-1234", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	assert.NoDirExists(t, folder)
}

func TestAVolumeIsKeptIf(t *testing.T) {
	for name, change := range map[string]func(*corev1.PersistentVolume){
		"its policy is Retain": func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		},
		"it is bound":           func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeBound },
		"it is new":             func(v *corev1.PersistentVolume) { v.Status.Phase = "" },
		"somebody else made it": func(v *corev1.PersistentVolume) { v.Annotations = nil },
	} {
		t.Run(name, func(t *testing.T) { assert.False(t, toDelete(newReleased("/dir", change))) })
	}
	assert.True(t, toDelete(newReleased("/dir")))
}

// makeFolder makes a folder with a file in it.
func makeFolder(t *testing.T, dir, name string) string {
	t.Helper()
	folder := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(folder, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "precious"), nil, 0o600))
	return folder
}

func expectNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	assert.ElementsMatch(t, want, names)
}

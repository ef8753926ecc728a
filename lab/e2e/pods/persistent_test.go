package pods

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

const claim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`

// folderOf waits until the claim is bound, which takes no pod, and returns the folder.
func folderOf(t *testing.T, namespace string) string {
	t.Helper()
	lab.Kubectl(t, "wait", "--for=jsonpath={.status.phase}=Bound", "pvc/data", "-n", namespace, labtest.TimeoutFlag)
	folders, err := filepath.Glob(filepath.Join(lab.Dir, "volumes", namespace+"-data-*"))
	require.NoError(t, err)
	require.Len(t, folders, 1)
	return folders[0]
}

// createUser creates a pod with the claim at /data that runs a script, as a user of its
// own where there is one.
func createUser(t *testing.T, namespace, name, script string) {
	t.Helper()
	createPod(t, namespace, name, fmt.Sprintf(`
restartPolicy: Never
terminationGracePeriodSeconds: 1
securityContext: {runAsUser: 26, runAsGroup: 26}
containers:
- name: main
  image: busybox
  command: [sh, -c, %q]
  volumeMounts:
  - {name: data, mountPath: /data}
volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]`, `cd "$LAB_ROOT"/data; `+script))
}

func TestAVolumeOutlivesItsPods(t *testing.T) {
	ns := newNamespace(t)
	apply(t, ns, claim)
	folder := folderOf(t, ns)
	createUser(t, ns, "first", "mkdir -m 700 own && echo written > own/file && sleep 1000")
	createUser(t, ns, "second", "until test -s own/file; do sleep 0.1; done; cat own/file") // at the same time
	expectPhase(t, ns, "second", corev1.PodSucceeded)
	lab.Kubectl(t, "delete", "pod", "first", "second", "-n", ns, labtest.TimeoutFlag)
	createUser(t, ns, "third", "cat own/file")
	expectPhase(t, ns, "third", corev1.PodSucceeded)
	expectLog(t, ns, "third", "written\n")

	// The claim is protected while a pod uses it.
	lab.Kubectl(t, "delete", "pvc", "data", "-n", ns, "--wait=false")
	assert.DirExists(t, folder)
	lab.Kubectl(t, "delete", "pod", "third", "-n", ns, labtest.TimeoutFlag)
	labtest.Eventually(t, "the folder is gone", func(context.Context) error {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			return errors.New("it is still there")
		}
		return nil
	})
	assert.DirExists(t, filepath.Dir(folder))
}

func TestAVolumeGrowsUnderItsPod(t *testing.T) {
	ns := newNamespace(t)
	apply(t, ns, claim)
	folder := folderOf(t, ns)
	createUser(t, ns, "user", "until test -s later; do sleep 0.1; done")
	expectPhase(t, ns, "user", corev1.PodRunning)
	lab.Kubectl(t, "patch", "pvc", "data", "-n", ns, "--type=merge", "-p", `{"spec": {"resources": {"requests": {"storage": "2Gi"}}}}`)
	lab.Kubectl(t, "wait", "--for=jsonpath={.status.capacity.storage}=2Gi", "pvc/data", "-n", ns, labtest.TimeoutFlag)
	volume := lab.Kubectl(t, "get", "pvc", "data", "-n", ns, "-o", "jsonpath={.spec.volumeName}")
	assert.Equal(t, "2Gi", lab.Kubectl(t, "get", "pv", volume, "-o", "jsonpath={.spec.capacity.storage}"))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "later"), []byte("go on"), 0o644))
	expectPhase(t, ns, "user", corev1.PodSucceeded)
}

func TestAVolumeIsRetained(t *testing.T) {
	ns := newNamespace(t)
	apply(t, ns, claim)
	folder := folderOf(t, ns)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	volumes := lab.Client(t).CoreV1().PersistentVolumes()
	name := lab.Kubectl(t, "get", "pvc", "data", "-n", ns, "-o", "jsonpath={.spec.volumeName}")
	_, err := volumes.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec": {"persistentVolumeReclaimPolicy": "Retain"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	lab.Kubectl(t, "delete", "pvc", "data", "-n", ns, labtest.TimeoutFlag)
	lab.Kubectl(t, "wait", "--for=jsonpath={.status.phase}=Released", "pv/"+name, labtest.TimeoutFlag)
	assert.FileExists(t, filepath.Join(folder, "file"))

	// Somebody who is done with it may say so later.
	_, err = volumes.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec": {"persistentVolumeReclaimPolicy": "Delete"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	labtest.Eventually(t, "the volume is gone", func(ctx context.Context) error {
		_, err := volumes.Get(ctx, name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there (%w)", err)
		}
		return nil
	})
	assert.NoDirExists(t, folder)
}

func TestASubPathIsMade(t *testing.T) {
	ns := newNamespace(t)
	apply(t, ns, claim)
	createPod(t, ns, "writer", `
restartPolicy: Never
securityContext: {runAsUser: 26}
containers:
- name: main
  image: busybox
  command: [sh, -c, 'echo one > "$LAB_ROOT"/one/file && echo two > "$LAB_ROOT"/two/file']
  volumeMounts:
  - {name: data, mountPath: /one, subPath: some/one}
  - {name: scratch, mountPath: /two, subPath: some/two}
volumes:
- {name: data, persistentVolumeClaim: {claimName: data}}
- {name: scratch, emptyDir: {}}`)
	expectPhase(t, ns, "writer", corev1.PodSucceeded)
	assert.FileExists(t, filepath.Join(folderOf(t, ns), "some", "one", "file"))
}

func TestAPodThatNamesAFolderOfTheHostIsRefused(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "curious", `
containers: [{name: main, image: busybox, command: [ls, /data], volumeMounts: [{name: data, mountPath: /data}]}]
volumes: [{name: data, hostPath: {path: /}}]`)
	expectEvent(t, ns, "curious", "FailedMount", "the lab has hostPath volumes for static pods only")
}

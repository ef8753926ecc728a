package faults

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// The lab is down, and nothing is left of the second half of any file but those of etcd.
func TestUpAfterEveryRecordWasCutOff(t *testing.T) {
	lab := startLab(t)
	require.NoError(t, createConfigMap(t.Context(), t, lab, "kept"))
	startSleeper(t, lab)
	lab.Run(t, "down")
	damaged := cutOffRecords(t, lab)
	for _, name := range []string{"settings.json", "state.json", "kubeconfig", "ca.key", "service-account.key", "audit-policy.yaml",
		"allocated_pods_state", "actuated_pods_state", "container.json", "sandbox.json", "image.json"} {
		assert.Contains(t, damaged, name)
	}

	assert.Contains(t, lab.Run(t, "down"), "not running")
	out := lab.Run(t, "up")
	for _, name := range []string{"settings.json", "ca.crt", "service-account.key"} {
		assert.Contains(t, out, name+" is empty, cut off or overwritten; it is now "+name+".broken")
	}
	expectHealthy(t, lab)
	expectConfigMap(t, lab, "kept")
	expectPodRuns(t, lab, "after")
	lab.Kubectl(t, "wait", "--for=jsonpath={.status.containerStatuses[0].restartCount}=1", "pod/sleeper", labtest.TimeoutFlag)
	lab.Kubectl(t, "wait", "--for=condition=Ready", "pod/sleeper", labtest.TimeoutFlag)
	assert.Equal(t, "in\n", lab.Kubectl(t, "exec", "sleeper", "--", "echo", "in"))
	assert.Contains(t, lab.Run(t, "logs", "kubelet"), "container.json is empty, cut off or overwritten")
}

// cutOffRecords halves every file that the lab reads when it starts, and returns their names.
func cutOffRecords(t *testing.T, lab *labtest.Lab) (names []string) {
	t.Helper()
	image := filepath.Join(lab.Dir, "images", "sha256-0", "image.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(image), 0o700))
	require.NoError(t, os.WriteFile(image, []byte(`{"ID":"sha256:0"}`), 0o600))
	notRecords := []string{"README", "etcd", "logs", "pods", "rootfs"}
	err := filepath.WalkDir(lab.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(notRecords, d.Name()) && d.IsDir():
			return fs.SkipDir
		case !d.Type().IsRegular() || slices.Contains(notRecords, d.Name()) || strings.HasSuffix(path, ".lock"):
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() == 0 {
			return err
		}
		testenv.Damage(t, path, testenv.Damages["is cut off"])
		names = append(names, d.Name())
		return nil
	})
	require.NoError(t, err)
	return names
}

package staticpod

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
)

const schedulerFile = "kube-scheduler.yaml"

// copyManifest puts a copy of the scheduler's manifest beside it, changed as by sed.
func copyManifest(t *testing.T, l layout.Layout, name string, oldNew ...string) {
	t.Helper()
	content, err := os.ReadFile(Manifest(l, settings.Scheduler))
	require.NoError(t, err)
	changed := strings.NewReplacer(oldNew...).Replace(string(content))
	require.NoError(t, os.WriteFile(filepath.Join(l.StaticPods(), name), []byte(changed), 0o600))
}

func visible(t *testing.T, l layout.Layout) (names []string) {
	t.Helper()
	files, err := Files(l)
	require.NoError(t, err)
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

// What editors, cp and patch leave behind. To the kubelet, only a dot makes a difference.
func TestWhichOfTwoFilesWithOnePodTheKubeletRuns(t *testing.T) {
	for name, runs := range map[string]string{
		"kube-scheduler.yaml.bak":    "kube-scheduler.yaml.bak",
		"kube-scheduler.yaml~":       "kube-scheduler.yaml~",
		"kube-scheduler.yaml.orig":   "kube-scheduler.yaml.orig",
		"mine.json":                  "mine.json",
		"#kube-scheduler.yaml#":      schedulerFile,
		"backup-of-kube-scheduler":   schedulerFile,
		".kube-scheduler.yaml.swp":   schedulerFile,
		".#kube-scheduler.yaml":      schedulerFile,
		".kube-scheduler.yaml.mine~": schedulerFile,
	} {
		t.Run(name, func(t *testing.T) {
			l, s := newLab(t)
			write(t, l, s)
			copyManifest(t, l, name, "--leader-elect=true", "--leader-elect=false")
			files, err := Files(l)
			require.NoError(t, err)
			f, ok := fileOf(files, settings.Scheduler)
			require.True(t, ok)
			assert.Equal(t, runs, f.Name)
			command := strings.Join(read(t, l, settings.Scheduler).Spec.Containers[0].Command, " ")
			assert.Equal(t, runs == schedulerFile, strings.Contains(command, "--leader-elect=true"), command)
			warnings := strings.Join(write(t, l, s), "\n")
			if name[0] == '.' {
				assert.NotContains(t, warnings, "warning")
				return
			}
			assert.Contains(t, warnings, runs+" has the same pod, and is the last one by name")
		})
	}
}

func TestFilesThatAreNoManifests(t *testing.T) {
	l, s := newLab(t)
	write(t, l, s)
	require.NoError(t, os.Mkdir(filepath.Join(l.StaticPods(), "folder"), 0o700))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(l.StaticPods(), "dangling")))
	require.NoError(t, unix.Mkfifo(filepath.Join(l.StaticPods(), "pipe"), 0o600)) // to read it would never end
	for name, content := range map[string]string{
		"notes.txt": "to do", "map.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "cut.yaml": "apiVersion: v1\nkind: [", "empty": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(l.StaticPods(), name), []byte(content), 0o600))
	}
	files, err := Files(l)
	require.NoError(t, err)
	why := map[string]string{}
	for _, f := range files {
		why[f.Name] = f.NotRun
	}
	for name, want := range map[string]string{
		"folder": "it is no file", "pipe": "it is no file", "dangling": "no such file", "notes.txt": "it is no pod",
		"map.yaml": `its kind "ConfigMap"`, "cut.yaml": "it is no pod", "empty": "it is no pod",
	} {
		assert.Contains(t, why[name], want, name)
	}
	assert.Empty(t, why[schedulerFile])
	assert.Contains(t, strings.Join(write(t, l, s), "\n"), "warning: the kubelet does not run "+filepath.Join(l.StaticPods(), "map.yaml"))
}

func TestAnotherPodOfThatNameElsewhereIsAnotherPod(t *testing.T) {
	l, s := newLab(t)
	write(t, l, s)
	copyManifest(t, l, "second.yaml", "namespace: kube-system", "namespace: default")
	copyManifest(t, l, "third.yaml", "  namespace: kube-system\n", "", "name: kube-scheduler\n", "name: third\n")
	files, err := Files(l)
	require.NoError(t, err)
	for _, f := range files {
		assert.Empty(t, f.NotRun, f.Name)
	}
	assert.Equal(t, []string{"kube-system/kube-controller-manager", "kube-system/kube-scheduler", "default/kube-scheduler", "default/third"},
		[]string{files[0].Key(), files[1].Key(), files[2].Key(), files[3].Key()})
}

// With a copy of the manifest left in the folder, the kubelet would go on, and lab up would wait forever.
func TestAllManifestsOfAComponentAreSetAside(t *testing.T) {
	l, s := newLab(t)
	write(t, l, s)
	copyManifest(t, l, "kube-scheduler.yaml.bak")
	copyManifest(t, l, "mine.yaml", "namespace: kube-system", "namespace: default")
	require.NoError(t, os.WriteFile(Manifest(l, settings.ControllerManager), []byte("cut off"), 0o600))
	sentences, err := SetAside(l)
	require.NoError(t, err)
	assert.Len(t, sentences, 3)
	assert.Equal(t, []string{"mine.yaml"}, visible(t, l))
	assert.FileExists(t, filepath.Join(l.StaticPods(), ".kube-scheduler.yaml.bak"))
}

func TestAComponentWhoseManifestHasAnotherNameGetsNoSecondOne(t *testing.T) {
	l, s := newLab(t)
	write(t, l, s)
	mine := filepath.Join(l.StaticPods(), "mine")
	require.NoError(t, os.Rename(Manifest(l, settings.Scheduler), mine))
	assert.Contains(t, write(t, l, s)[0], "kube-scheduler is the static pod in "+mine)
	assert.Equal(t, []string{"kube-controller-manager.yaml", "mine"}, visible(t, l))
	other := filepath.Join(l.StaticPods(), schedulerFile)
	require.NoError(t, os.WriteFile(other, []byte("{apiVersion: v1, kind: Pod, metadata: {name: else}}"), 0o600))
	require.NoError(t, os.Remove(mine))
	_, err := Read(l, settings.Scheduler)
	require.ErrorContains(t, err, "as kube-scheduler: its pod is default/else")
}

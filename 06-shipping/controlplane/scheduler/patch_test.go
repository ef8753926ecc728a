package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// stockManifest is the manifest of the stock scheduler. `lab up --static-pods` fills it in.
const stockManifest = "../../../lab/internal/staticpod/kube-scheduler.yaml"

// patched returns the manifest of a lab's scheduler after patch.yaml, as place.sh makes it. The files
// of the node that it names are there.
func patched(t *testing.T) corev1.PodSpec {
	t.Helper()
	_ = os.Getenv("TEST_INPUTS") // for go test's cache: the manifest is in another module
	kubeconfig := filepath.Join(t.TempDir(), "scheduler.conf")
	require.NoError(t, os.WriteFile(kubeconfig, nil, 0o600))
	stock, err := template.ParseFiles(stockManifest)
	require.NoError(t, err)
	var manifest bytes.Buffer
	require.NoError(t, stock.Option("missingkey=error").Execute(&manifest, map[string]any{
		"Image": "kube-scheduler:stock", "Kubeconfig": kubeconfig, "Port": 10259, "OtherPort": false,
	}))
	before, err := yaml.YAMLToJSON(manifest.Bytes())
	require.NoError(t, err)

	config, err := filepath.Abs("config.yaml")
	require.NoError(t, err)
	content, err := os.ReadFile("patch.yaml")
	require.NoError(t, err)
	operations, err := yaml.YAMLToJSON([]byte(strings.NewReplacer("IMAGE", "kube-scheduler:test", "CONFIG", config).Replace(string(content))))
	require.NoError(t, err)
	patch, err := jsonpatch.DecodePatch(operations)
	require.NoError(t, err)
	after, err := patch.Apply(before)
	require.NoError(t, err)
	pod := corev1.Pod{}
	require.NoError(t, json.Unmarshal(after, &pod))
	return pod.Spec
}

func TestThePatchChangesTheImage(t *testing.T) {
	assert.Equal(t, "kube-scheduler:test", patched(t).Containers[0].Image)
}

// A file that a flag names is in the container only if a volume is mounted there.
func TestWhatAFlagNamesIsMounted(t *testing.T) {
	container := patched(t).Containers[0]
	files := 0
	for _, flag := range container.Command {
		if _, file, ok := strings.Cut(flag, "=/"); ok {
			files++
			assert.True(t, slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/"+file }), "nothing is mounted for %s", flag)
		}
	}
	assert.Equal(t, 4, files)
}

func TestWhatIsMountedIsThere(t *testing.T) {
	spec := patched(t)
	for _, mount := range spec.Containers[0].VolumeMounts {
		i := slices.IndexFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		require.GreaterOrEqual(t, i, 0, "there is no volume %s", mount.Name)
		source := spec.Volumes[i].HostPath
		info, err := os.Stat(source.Path)
		require.NoError(t, err)
		wantsFolder := strings.HasPrefix(string(*source.Type), "Directory")
		assert.Equal(t, info.IsDir(), wantsFolder, "the volume %s has the type %s; its path is a folder: %v", mount.Name, *source.Type, info.IsDir())
	}
}

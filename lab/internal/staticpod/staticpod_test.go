package staticpod

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// newLab makes the folders of a lab. Its name would be no YAML by itself.
func newLab(t *testing.T) (layout.Layout, settings.Settings) {
	t.Helper()
	l, err := layout.New(filepath.Join(t.TempDir(), `a "lab": #1`))
	require.NoError(t, err)
	require.NoError(t, l.Create())
	return l, settings.Settings{Ports: map[string]int{settings.Scheduler: 20001, settings.ControllerManager: 20002}}
}

func write(t *testing.T, l layout.Layout, s settings.Settings) []string {
	t.Helper()
	sentences, err := Write(l, s)
	require.NoError(t, err)
	return sentences
}

func read(t *testing.T, l layout.Layout, name string) *corev1.Pod {
	t.Helper()
	pod, err := Read(l, name)
	require.NoError(t, err)
	return pod
}

func TestManifestsNameTheFilesOfTheirLab(t *testing.T) {
	l, s := newLab(t)
	write(t, l, s)
	for _, name := range Names {
		pod := read(t, l, name)
		assert.Equal(t, name, pod.Name)
		assert.True(t, pod.Spec.HostNetwork)
		assert.Equal(t, "system-node-critical", pod.Spec.PriorityClassName)
		assert.Equal(t, l.Kubeconfig(name), pod.Spec.Volumes[0].HostPath.Path)
	}
	assert.Equal(t, l.PKI(), read(t, l, settings.ControllerManager).Spec.Volumes[1].HostPath.Path)
}

func TestAManifestThatSomebodyHasChangedStays(t *testing.T) {
	l, s := newLab(t)
	write(t, l, s)
	file := Manifest(l, settings.Scheduler)
	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
	assert.Contains(t, write(t, l, s)[0], "as it is")
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(content))
	_, err = Read(l, settings.Scheduler)
	assert.ErrorContains(t, err, "is no pod")
}

func TestAPortThatIsTaken(t *testing.T) {
	l, s := newLab(t)
	// Another lab may have it already, which is as good.
	// luck: whoever has it is as good
	if listener, err := net.Listen("tcp4", "127.0.0.1:10259"); err == nil {
		defer listener.Close()
	}
	assert.Contains(t, write(t, l, s)[0], "port 10259 is taken by another program: kube-scheduler listens on 20001")
	pod := read(t, l, settings.Scheduler)
	assert.True(t, slices.Contains(pod.Spec.Containers[0].Command, "--secure-port=20001"))
	port, url := Probe(pod)
	assert.Equal(t, 20001, port)
	assert.Equal(t, "https://127.0.0.1:20001/livez", url)
}

func TestWhatIsSetAsideIsNoStaticPod(t *testing.T) {
	l, s := newLab(t)
	write(t, l, s)
	for range 2 { // to do it again is harmless
		_, err := SetAside(l)
		require.NoError(t, err)
	}
	_, err := Read(l, settings.Scheduler)
	require.ErrorContains(t, err, "lab up --static-pods")
	visible, err := filepath.Glob(filepath.Join(l.Join("static-pods"), "[^.]*")) // as the kubelet looks
	require.NoError(t, err)
	assert.Empty(t, visible)
}

func TestAPodWithoutALivenessProbeHasNoURL(t *testing.T) {
	_, url := Probe(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{}}}})
	assert.Empty(t, url)
}

// Package faults kills the parts of a lab and checks that it comes back with
// everything that it had acknowledged. A test that stops or kills something has a
// lab of its own; the others share one.
package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

// shared is the lab of the tests that leave it as they found it.
var shared *labtest.Lab

func TestMain(m *testing.M) {
	if address := os.Getenv(serverEnv); address != "" {
		fmt.Fprintln(os.Stderr, serve(address))
		os.Exit(1)
	}
	code := m.Run()
	if shared != nil {
		if err := shared.Remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// sharedLab returns the lab that others use, too. What a test makes in it needs a
// name of its own.
func sharedLab(t *testing.T) *labtest.Lab {
	t.Helper()
	if shared == nil { // the tests of this package run one after the other
		lab, err := labtest.New()
		require.NoError(t, err)
		shared = lab
	}
	shared.Run(t, "up") // only the first time it has something to do
	expectHealthy(t, shared)
	return shared
}

// startLab starts a lab of the test's own.
func startLab(t *testing.T) *labtest.Lab {
	t.Helper()
	lab := newLab(t)
	lab.Run(t, "up")
	return lab
}

// newLab makes a lab that the test starts. When the test ends the lab must stop,
// and leave nothing.
func newLab(t *testing.T) *labtest.Lab {
	t.Helper()
	lab, err := labtest.New()
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			showLogs(t, lab)
		}
		assert.NoError(t, lab.Remove())
		assert.NoDirExists(t, lab.Dir)
	})
	return lab
}

func showLogs(t *testing.T, lab *labtest.Lab) {
	t.Helper()
	for _, name := range []string{"supervisor", "kubelet"} {
		data, _ := os.ReadFile(filepath.Join(lab.Dir, "logs", name+".log"))
		t.Logf("%s.log ends with:\n%s", name, data[max(0, len(data)-4000):])
	}
}

func layoutOf(t *testing.T, lab *labtest.Lab) layout.Layout {
	t.Helper()
	l, err := layout.New(lab.Dir)
	require.NoError(t, err)
	return l
}

func state(t *testing.T, lab *labtest.Lab) supervisor.State {
	t.Helper()
	s, err := supervisor.ReadState(layoutOf(t, lab))
	require.NoError(t, err)
	return s
}

// supervisorPID returns 0 when no supervisor runs.
func supervisorPID(t *testing.T, lab *labtest.Lab) int {
	t.Helper()
	pid, err := supervisor.PID(layoutOf(t, lab))
	require.NoError(t, err)
	return pid
}

func createConfigMap(ctx context.Context, t *testing.T, lab *labtest.Lab, name string) error {
	t.Helper()
	_, err := lab.Client(t).CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

func expectConfigMap(t *testing.T, lab *labtest.Lab, name string) {
	t.Helper()
	_, err := lab.Client(t).CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err, "an acknowledged object is lost")
}

// expectHealthy waits until the lab itself says that all is well.
func expectHealthy(t *testing.T, lab *labtest.Lab) {
	t.Helper()
	labtest.Eventually(t, "lab status is healthy", func(ctx context.Context) error {
		out, err := lab.Command(ctx, "status")
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
}

// expectPodRuns proves that the whole chain works: it needs the API server,
// etcd, the scheduler, the controllers and the kubelet.
func expectPodRuns(t *testing.T, lab *labtest.Lab, name string) {
	t.Helper()
	lab.Kubectl(t, "create", "job", name, "--image=busybox", "--", "echo", "hello from "+name)
	lab.Kubectl(t, "wait", "--for=condition=complete", "job/"+name, labtest.TimeoutFlag)
	assert.Contains(t, lab.Kubectl(t, "logs", "job/"+name), "hello from "+name)
}

// createClaim creates a claim of a volume for appendToVolume.
func createClaim(t *testing.T, lab *labtest.Lab) {
	t.Helper()
	_, err := lab.Client(t).CoreV1().PersistentVolumeClaims("default").Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// appendToVolume runs a pod that adds its name to those of the pods before it.
func appendToVolume(t *testing.T, lab *labtest.Lab, pod string, before ...string) {
	t.Helper()
	lab.Kubectl(t, "run", pod, "--image=busybox", "--overrides", `{"spec": {
		"restartPolicy": "Never",
		"securityContext": {"runAsUser": 26, "runAsGroup": 26},
		"containers": [{
			"name": "main", "image": "busybox",
			"command": ["sh", "-c", "cd \"$LAB_ROOT\"/data; touch pods; cat pods; echo $HOSTNAME >> pods"],
			"volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
		"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}}`)
	lab.Kubectl(t, "wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/"+pod, labtest.TimeoutFlag)
	assert.Equal(t, strings.Join(before, " "), strings.Join(strings.Fields(lab.Kubectl(t, "logs", pod)), " "))
}

package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

func TestKubectlRunPrintsYAY(t *testing.T) {
	ns := newNamespace(t)
	lab.Kubectl(t, "run", "yay", "-n", ns, "--image=busybox", "--restart=OnFailure", "--command", "--", "echo", "YAY")
	expectPhase(t, ns, "yay", corev1.PodSucceeded)
	assert.Equal(t, "YAY\n", lab.Kubectl(t, "logs", "yay", "-n", ns))
}

func TestExitCodes(t *testing.T) {
	ns := newNamespace(t)
	for name, tc := range map[string]struct {
		script string
		want   int32
	}{
		"exits-3":   {"exit 3", 3},
		"is-killed": {"kill -9 $$$$", 128 + 9},
	} {
		createPod(t, ns, name, fmt.Sprintf(`
restartPolicy: Never
containers: [{name: main, image: busybox, command: [sh, -c, %q]}]`, tc.script))
		pod := expectPhase(t, ns, name, corev1.PodFailed)
		assert.Equal(t, tc.want, pod.Status.ContainerStatuses[0].State.Terminated.ExitCode, name)
	}
}

func TestACommandThatDoesNotExist(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "typo", `
restartPolicy: Never
containers: [{name: main, image: busybox, command: [ehco, hello]}]`)
	pod := expectPhase(t, ns, "typo", corev1.PodFailed)
	assert.Contains(t, pod.Status.ContainerStatuses[0].State.Terminated.Message, `"ehco": executable file not found`)
}

func TestRestartPolicies(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "always", `
containers: [{name: main, image: busybox, command: [sh, -c, "echo round; exit 0"]}]`)
	createPod(t, ns, "on-failure", `
restartPolicy: OnFailure
containers:
- name: main
  image: busybox
  command: [sh, -c, "test -e \"$LAB_ROOT\"/state/second && exit 0; touch \"$LAB_ROOT\"/state/second; exit 1"]
  volumeMounts: [{name: state, mountPath: /state}]
volumes: [{name: state, emptyDir: {}}]`)

	pod := expectPhase(t, ns, "on-failure", corev1.PodSucceeded)
	assert.EqualValues(t, 1, pod.Status.ContainerStatuses[0].RestartCount)

	expectPod(t, ns, "always", "was restarted", restarted)
	// The pod's status says CrashLoopBackOff only if the kubelet happens to look
	// at the pod during the pause. The event is always there.
	expectEvent(t, ns, "always", "BackOff", "Back-off restarting failed container")
}

func TestInitAndSidecarContainers(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "staged", `
restartPolicy: Never
initContainers:
- {name: first, image: busybox, command: [sh, -c, "echo first >> \"$LAB_ROOT\"/shared/order"], volumeMounts: [{name: work, mountPath: /shared}]}
- name: sidecar
  image: busybox
  restartPolicy: Always
  command: [sh, -c, "echo sidecar >> \"$LAB_ROOT\"/shared/order; touch \"$LAB_ROOT\"/shared/up; exec sleep 1000"]
  startupProbe: {exec: {command: [sh, -c, "test -e \"$LAB_ROOT\"/shared/up"]}, periodSeconds: 1}
  volumeMounts: [{name: work, mountPath: /shared}]
containers:
- {name: main, image: busybox, command: [sh, -c, "echo main >> \"$LAB_ROOT\"/shared/order; cat \"$LAB_ROOT\"/shared/order"], volumeMounts: [{name: work, mountPath: /shared}]}
volumes: [{name: work, emptyDir: {}}]`)
	expectPhase(t, ns, "staged", corev1.PodSucceeded)
	assert.Equal(t, "first\nsidecar\nmain\n", lab.Kubectl(t, "logs", "staged", "-n", ns, "-c", "main"))
}

func TestStaticPod(t *testing.T) {
	t.Parallel()
	manifest := filepath.Join(lab.Dir, "static-pods", "static.yaml")
	require.NoError(t, os.WriteFile(manifest, []byte(`
apiVersion: v1
kind: Pod
metadata: {name: static, namespace: default}
spec:
  containers: [{name: main, image: busybox, command: [sleep, "1000"]}]
`), 0o600))
	t.Cleanup(func() { _ = os.Remove(manifest) })
	// Its mirror in the API is named for the node.
	expectReady(t, "default", "static-lab-node")
	require.NoError(t, os.Remove(manifest))
	expectGone(t, "default", "static-lab-node")
}

func TestDeletingANamespaceDeletesAllInIt(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "sleeper", `
terminationGracePeriodSeconds: 1
containers: [{name: main, image: busybox, command: [sleep, "1000"]}]`)
	lab.Kubectl(t, "create", "configmap", "some", "-n", ns, "--from-literal=a=b")
	expectReady(t, ns, "sleeper")
	lab.Kubectl(t, "delete", "namespace", ns, labtest.TimeoutFlag)
	_, err := lab.Client(t).CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), err)
	expectGone(t, ns, "sleeper")
}

func expectGone(t *testing.T, namespace, name string) {
	t.Helper()
	labtest.Eventually(t, "pod "+name+" is gone", func(ctx context.Context) error {
		_, err := lab.Client(t).CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		default:
			return errors.New("it still exists")
		}
	})
}

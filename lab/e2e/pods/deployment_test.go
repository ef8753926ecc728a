package pods

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// In a pod's command, $$ stands for one dollar sign.
const sleepers = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: sleepers}
spec:
  replicas: 3
  selector: {matchLabels: {app: sleepers}}
  template:
    metadata: {labels: {app: sleepers}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: busybox
        command: [sh, -c, "echo pid $$$$; touch /tmp/ready; while true; do sleep 1; done"]
        readinessProbe: {exec: {command: [cat, /tmp/ready]}, periodSeconds: 1}
`

func TestDeploymentRollsOutSurvivesAKillAndScalesToZero(t *testing.T) {
	ns := newNamespace(t)
	apply(t, ns, sleepers)
	lab.Kubectl(t, "rollout", "status", "deployment/sleepers", "-n", ns, labtest.TimeoutFlag)

	victim := podsOf(t, ns, "sleepers")[0].Name
	expectLog(t, ns, victim, "pid ")
	require.NoError(t, syscall.Kill(pidInLog(t, ns, victim), syscall.SIGKILL))
	expectPod(t, ns, victim, "was restarted and is ready", func(p *corev1.Pod) bool {
		return p.Status.ContainerStatuses[0].RestartCount == 1 && isReady(p)
	})

	lab.Kubectl(t, "scale", "deployment/sleepers", "-n", ns, "--replicas=0")
	labtest.Eventually(t, "no pod is left", func(ctx context.Context) error {
		if left := podsOf(t, ns, "sleepers"); len(left) > 0 {
			return fmt.Errorf("%d are left", len(left))
		}
		return nil
	})
}

// apply applies a manifest, as a file.
func apply(t *testing.T, namespace, manifest string) {
	t.Helper()
	lab.Kubectl(t, "apply", "-n", namespace, "-f", writeFile(t, manifest))
}

func podsOf(t *testing.T, namespace, app string) []corev1.Pod {
	t.Helper()
	list, err := lab.Client(t).CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	require.NoError(t, err)
	return list.Items
}

// pidInLog reads the line `pid N` that a container has printed. There is no
// PID namespace: N is its process on this machine.
func pidInLog(t *testing.T, namespace, pod string) int {
	t.Helper()
	var pid int
	_, err := fmt.Sscanf(strings.TrimSpace(lab.Kubectl(t, "logs", pod, "-n", namespace)), "pid %d", &pid)
	require.NoError(t, err)
	return pid
}

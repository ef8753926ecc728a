package pods

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func restarted(p *corev1.Pod) bool {
	return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].RestartCount >= 1
}

func TestLivenessProbes(t *testing.T) {
	ns := newNamespace(t)
	// Where a probe must succeed it has a minute: one second, the default, is too
	// short on a busy machine.
	createPod(t, ns, "by-exec", `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: busybox
  command: [sh, -c, "touch /tmp/alive; sleep 2; rm /tmp/alive; sleep 1000"]
  livenessProbe: {exec: {command: [cat, /tmp/alive]}, periodSeconds: 1, failureThreshold: 1, initialDelaySeconds: 1}`)
	createPod(t, ns, "by-http", `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: testserver:v1
  startupProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 1, failureThreshold: 120, timeoutSeconds: 60}
  livenessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 60}
- name: breaker
  image: testserver:v1
  args: [-port=8081]`)
	createPod(t, ns, "by-tcp", `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: testserver:v1
  livenessProbe: {tcpSocket: {port: 9}, periodSeconds: 1, failureThreshold: 1}`)

	expectPod(t, ns, "by-exec", "is restarted", restarted)
	expectPod(t, ns, "by-tcp", "is restarted", restarted)
	expectEvent(t, ns, "by-tcp", "Unhealthy", "Liveness probe failed")

	healthy := expectReady(t, ns, "by-http")
	assert.Zero(t, healthy.Status.ContainerStatuses[0].RestartCount)
	get(t, healthy.Status.PodIP, 8080, "/break")
	expectPod(t, ns, "by-http", "is restarted", func(p *corev1.Pod) bool {
		for _, c := range p.Status.ContainerStatuses {
			if c.Name == "main" {
				return c.RestartCount >= 1
			}
		}
		return false
	})
}

func TestReadinessFollowsTheProbe(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "server", `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: testserver:v1
  readinessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 1, failureThreshold: 1}`)
	createPod(t, ns, "by-tcp", `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: testserver:v1
  readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}`)
	expectReady(t, ns, "by-tcp")
	pod := expectReady(t, ns, "server")
	get(t, pod.Status.PodIP, 8080, "/break")
	expectPod(t, ns, "server", "is not ready and not restarted", func(p *corev1.Pod) bool {
		return !isReady(p) && p.Status.ContainerStatuses[0].RestartCount == 0
	})
}

func TestStartupProbeHoldsTheOthersBack(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "slow", `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: busybox
  command: [sh, -c, "rm -f /tmp/started; sleep 3; touch /tmp/started; sleep 1000"]
  startupProbe: {exec: {command: [cat, /tmp/started]}, periodSeconds: 1, failureThreshold: 120, timeoutSeconds: 60}
  livenessProbe: {exec: {command: [cat, /tmp/started]}, periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 60}`)
	pod := expectReady(t, ns, "slow")
	assert.Zero(t, pod.Status.ContainerStatuses[0].RestartCount, "the liveness probe did not wait")
}

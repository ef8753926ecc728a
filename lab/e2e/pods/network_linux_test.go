package pods

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// thief listens on all addresses, so on those of all pods.
const thief = `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: testserver:v1
  args: [-port=18080]
  env: [{name: POD_IP, value: 0.0.0.0}]
  readinessProbe: {httpGet: {path: /, port: 18080}, periodSeconds: 1}`

func TestNoOtherPodAnswersAProbe(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "thief", thief)
	expectReady(t, ns, "thief")
	for name, probe := range map[string]string{
		"by-http": "httpGet: {path: /, port: 18080}",
		"by-tcp":  "tcpSocket: {port: 18080}",
		"by-grpc": "grpc: {port: 18080}",
	} {
		createPod(t, ns, name, `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: busybox
  command: [sleep, "1000"]
  readinessProbe: {`+probe+`, periodSeconds: 1}`)
	}
	for _, name := range []string{"by-http", "by-tcp", "by-grpc"} {
		expectEvent(t, ns, name, "Unhealthy", "18080: a process that is not the pod's listens there")
	}
}

// On macOS all pods share one address.
func TestTwoPodsListenOnTheSamePort(t *testing.T) {
	ns := newNamespace(t)
	for _, name := range []string{"one", "two"} {
		createPod(t, ns, name, `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: testserver:v1
  readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}`)
	}
	one, two := expectReady(t, ns, "one"), expectReady(t, ns, "two")
	assert.NotEqual(t, one.Status.PodIP, two.Status.PodIP)
	assert.Equal(t, "one\n", get(t, one.Status.PodIP, 8080, "/"))
	assert.Equal(t, "two\n", get(t, two.Status.PodIP, 8080, "/"))
}

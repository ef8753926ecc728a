package pods

import (
	"testing"
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

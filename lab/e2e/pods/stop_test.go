package pods

import (
	"testing"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

func TestPreStopHookRunsBeforeTheSignal(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "hooked", `
terminationGracePeriodSeconds: 30
containers:
- name: main
  image: busybox
  command: [sh, -c, "trap '' TERM; echo waiting; until test -e \"$LAB_ROOT\"/shared/asked; do sleep 0.1; done; echo was asked"]
  lifecycle: {preStop: {exec: {command: [sh, -c, "touch \"$LAB_ROOT\"/shared/asked"]}}}
  volumeMounts: [{name: work, mountPath: /shared}]
volumes: [{name: work, emptyDir: {}}]`)
	expectReady(t, ns, "hooked")
	follow := startKubectl(t, "logs", "-f", "hooked", "-n", ns)
	follow.expectOutput(t, "waiting")
	lab.Kubectl(t, "delete", "pod", "hooked", "-n", ns, labtest.TimeoutFlag)
	follow.expectOutput(t, "was asked")
}

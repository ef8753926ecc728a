package pods

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

func TestTerminationGraceThenKillOfTheWholeGroup(t *testing.T) {
	ns := newNamespace(t)
	// Both the shell and the child it leaves behind ignore the polite signal.
	createPod(t, ns, "stubborn", `
terminationGracePeriodSeconds: 2
containers:
- name: main
  image: busybox
  command: [sh, -c, "trap '' TERM; sleep 1000 & echo child $!; while true; do wait; done"]`)
	expectReady(t, ns, "stubborn")
	expectLog(t, ns, "stubborn", "child ")
	var pid int
	_, err := fmt.Sscanf(lab.Kubectl(t, "logs", "stubborn", "-n", ns), "child %d", &pid)
	require.NoError(t, err)
	child := testenv.ProcessOf(pid)

	began := time.Now()
	lab.Kubectl(t, "delete", "pod", "stubborn", "-n", ns, labtest.TimeoutFlag)
	assert.GreaterOrEqual(t, time.Since(began), 2*time.Second, "it was not given its grace")
	testenv.ExpectEnd(t, child)
}

func TestAPoliteProgramEndsAtOnce(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "polite", `
terminationGracePeriodSeconds: 3600
containers: [{name: main, image: "testserver:v1"}]`)
	expectReady(t, ns, "polite")
	expectLog(t, ns, "polite", "listening")
	lab.Kubectl(t, "delete", "pod", "polite", "-n", ns, labtest.TimeoutFlag)
}

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

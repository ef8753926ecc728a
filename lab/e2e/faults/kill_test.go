package faults

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// A container goes on when any component dies, as on a real node: it has a parent
// of its own. A pod that may run only once is not run again.
func TestKillOfEachComponent(t *testing.T) {
	lab := startLab(t)
	sleeper := startSleeper(t, lab, "--restart=Never")
	createClaim(t, lab)
	appendToVolume(t, lab, "before-all")
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"} {
		t.Run(name, func(t *testing.T) {
			before := state(t, lab).Components[name]
			require.NoError(t, createConfigMap(t.Context(), t, lab, "acknowledged-"+name))
			require.NoError(t, syscall.Kill(before.PID, syscall.SIGKILL))
			labtest.Eventually(t, name+" is started again", func(context.Context) error {
				if now := state(t, lab).Components[name]; now.PID == 0 || now.Restarts != before.Restarts+1 {
					return fmt.Errorf("the state is %+v", now)
				}
				return nil
			})
			expectHealthy(t, lab)
			expectConfigMap(t, lab, "acknowledged-"+name)
			expectPodRuns(t, lab, "after-"+name)
			require.False(t, sleeper.Ended(), "the container has died")
		})
	}
	appendToVolume(t, lab, "after-all", "before-all")
	expectSleeperRuns(t, lab)
	lab.Kubectl(t, "delete", "pod", "sleeper", "--grace-period=1", labtest.TimeoutFlag)
	testenv.ExpectEnd(t, sleeper)
}

// startSleeper runs a pod that sleeps, and returns the process of its
// container. In a pod's command, $$ stands for one dollar sign.
func startSleeper(t *testing.T, lab *labtest.Lab, flags ...string) testenv.Process {
	t.Helper()
	command := []string{"--command", "--", "sh", "-c", "echo pid $$$$; sleep 1000"}
	lab.Kubectl(t, slices.Concat([]string{"run", "sleeper", "--image=busybox"}, flags, command)...)
	lab.Kubectl(t, "wait", "--for=condition=Ready", "pod/sleeper", labtest.TimeoutFlag)
	return testenv.ProcessOf(pidInLog(t, lab, "sleeper"))
}

// expectSleeperRuns proves that the container was never started again, and that
// the kubelet is in control of it.
func expectSleeperRuns(t *testing.T, lab *labtest.Lab) {
	t.Helper()
	pod, err := lab.Client(t).CoreV1().Pods("default").Get(t.Context(), "sleeper", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.PodRunning, pod.Status.Phase)
	assert.Zero(t, pod.Status.ContainerStatuses[0].RestartCount)
	assert.Equal(t, "in\n", lab.Kubectl(t, "exec", "sleeper", "--", "echo", "in"))
}

// TestKillOfTheSupervisor runs in order: each of the three commands recovers from
// a killed supervisor.
func TestKillOfTheSupervisor(t *testing.T) {
	lab := startLab(t)
	t.Run("nothing goes on without it", func(t *testing.T) { nothingGoesOn(t, lab) })
	t.Run("up brings everything back", func(t *testing.T) {
		lab.Run(t, "up")
		expectConfigMap(t, lab, "acknowledged")
		expectPodRuns(t, lab, "after")
		appendToVolume(t, lab, "second", "first")
		lab.Kubectl(t, "wait", "--for=condition=Ready", "pod/sleeper", labtest.TimeoutFlag)
	})
	t.Run("down notices that it is gone", func(t *testing.T) {
		require.NoError(t, syscall.Kill(supervisorPID(t, lab), syscall.SIGKILL))
		assert.Contains(t, lab.Run(t, "down"), "not running")
	})
	t.Run("reset ends what does not end by itself", func(t *testing.T) {
		lab.Run(t, "up")
		pid := state(t, lab).Components["etcd"].PID
		// A stopped process does not notice that its supervisor is gone.
		process := testenv.ProcessOf(pid)
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
		require.NoError(t, syscall.Kill(supervisorPID(t, lab), syscall.SIGKILL))
		lab.Run(t, "reset")
		testenv.ExpectEnd(t, process)
		assert.NoDirExists(t, lab.Dir)
	})
}

func nothingGoesOn(t *testing.T, lab *labtest.Lab) {
	processes := []testenv.Process{startSleeper(t, lab)}
	for _, c := range state(t, lab).Components {
		processes = append(processes, testenv.ProcessOf(c.PID))
	}
	require.NoError(t, createConfigMap(t.Context(), t, lab, "acknowledged"))
	createClaim(t, lab)
	appendToVolume(t, lab, "first")
	require.NoError(t, syscall.Kill(supervisorPID(t, lab), syscall.SIGKILL))
	for _, process := range processes { // nobody has to clean up
		testenv.ExpectEnd(t, process)
	}
	_, err := lab.Command(t.Context(), "status")
	require.Error(t, err, "status did not notice")
}

func pidInLog(t *testing.T, lab *labtest.Lab, pod string) int {
	t.Helper()
	var pid int
	labtest.Eventually(t, "the pod prints its pid", func(ctx context.Context) error {
		log, err := lab.Command(ctx, "kubectl", "logs", pod)
		if err != nil {
			return err
		}
		_, err = fmt.Sscanf(log, "pid %d", &pid)
		return err
	})
	return pid
}

package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/runtime"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

const scheduler = "kube-scheduler"

// TestStaticPods runs in order: each subtest goes on with the lab that the one
// before it has left.
func TestStaticPods(t *testing.T) {
	lab := newLab(t)
	lab.Run(t, "up", "--static-pods")
	t.Run("the kubelet runs two components", func(t *testing.T) { componentsAreStatic(t, lab) })
	t.Run("only a static pod has a folder of the host", func(t *testing.T) { hostPathIsRefused(t, lab) })
	t.Run("a mirror pod is deleted", func(t *testing.T) { deleteMirrorPod(t, lab) })
	t.Run("a broken flag", func(t *testing.T) { breakFlag(t, lab) })
	t.Run("off and on while it runs mends that", func(t *testing.T) { switchStaticPods(t, lab) })
	// From here on, the kubelet waits before it starts them again.
	t.Run("crictl stop", func(t *testing.T) { stopContainer(t, lab) })
	t.Run("its process is killed", func(t *testing.T) { killStaticProcess(t, lab) })
	t.Run("the kubelet is killed", func(t *testing.T) { killKubelet(t, lab) })
	t.Run("down and up again", func(t *testing.T) { staticDownAndUp(t, lab) })
	t.Run("nothing goes on without the supervisor", func(t *testing.T) {
		process := testenv.ProcessOf(containerOf(t, lab, scheduler).PID)
		require.NoError(t, syscall.Kill(supervisorPID(t, lab), syscall.SIGKILL))
		testenv.ExpectEnd(t, process)
	})
}

// containerOf waits until the static pod of a component runs, and returns its container.
func containerOf(t *testing.T, lab *labtest.Lab, component string) (found runtime.Container) {
	t.Helper()
	labtest.Eventually(t, component+" runs in a container", func(context.Context) error {
		all, err := runtime.Containers(layoutOf(t, lab).Runtime())
		for _, c := range all {
			if c.Name == component && c.Running() {
				found = c
				return nil
			}
		}
		return errors.Join(err, fmt.Errorf("the containers are %+v", all))
	})
	return found
}

func componentsAreStatic(t *testing.T, lab *labtest.Lab) {
	expectHealthy(t, lab)
	assert.Equal(t, 2, strings.Count(lab.Run(t, "status"), "healthy (static pod)"))
	assert.Contains(t, lab.Run(t, "logs", scheduler), "Caches are synced")
	assert.Contains(t, lab.Run(t, "crictl", "ps"), " "+scheduler+"-lab-node ")
	for _, name := range []string{scheduler, "kube-controller-manager"} {
		labtest.Eventually(t, "there is a mirror pod of "+name, func(ctx context.Context) error {
			pod, err := lab.Client(t).CoreV1().Pods("kube-system").Get(ctx, name+"-lab-node", metav1.GetOptions{})
			if err == nil && pod.Annotations[corev1.MirrorPodAnnotationKey] == "" {
				err = errors.New("it is no mirror")
			}
			return err
		})
	}
	expectPodRuns(t, lab, "placed") // by a scheduler and a controller manager in pods
}

// hostPathIsRefused to a pod that only says that it is static.
func hostPathIsRefused(t *testing.T, lab *labtest.Lab) {
	lab.Kubectl(t, "run", "liar", "--image=busybox", "--annotations=kubernetes.io/config.source=file", "--overrides", `{"spec": {
		"containers": [{"name": "main", "image": "busybox", "command": ["ls", "/data"], "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
		"volumes": [{"name": "data", "hostPath": {"path": "/"}}]}}`)
	labtest.Eventually(t, "the kubelet refuses the volume", func(ctx context.Context) error {
		out, err := lab.Command(ctx, "kubectl", "events", "--for=pod/liar")
		if err == nil && !strings.Contains(out, "hostPath volumes for static pods only") {
			err = errors.New(out)
		}
		return err
	})
	lab.Kubectl(t, "delete", "pod", "liar", "--grace-period=0", "--force", labtest.TimeoutFlag)
}

func deleteMirrorPod(t *testing.T, lab *labtest.Lab) {
	before := containerOf(t, lab, scheduler)
	uid := func() string {
		out, _ := lab.Command(t.Context(), "kubectl", "get", "pod", "-n", "kube-system", scheduler+"-lab-node", "-o", "jsonpath={.metadata.uid}")
		return out
	}
	old := uid()
	lab.Kubectl(t, "delete", "pod", "-n", "kube-system", scheduler+"-lab-node", labtest.TimeoutFlag)
	labtest.Eventually(t, "there is another mirror pod", func(context.Context) error {
		if now := uid(); now == "" || now == old {
			return fmt.Errorf("its uid is %q", now)
		}
		return nil
	})
	assert.Equal(t, before.PID, containerOf(t, lab, scheduler).PID, "the scheduler was started again")
}

// expectAttempt waits until a static pod runs in its next container. Its process has ended before
// the runtime knows that.
func expectAttempt(t *testing.T, lab *labtest.Lab, component string, want int) {
	t.Helper()
	labtest.Eventually(t, component+" is started again", func(context.Context) error {
		if got := containerOf(t, lab, component).Attempt; got != want {
			return fmt.Errorf("its attempt is %d, not %d", got, want)
		}
		return nil
	})
}

func stopContainer(t *testing.T, lab *labtest.Lab) {
	before := containerOf(t, lab, scheduler)
	process := testenv.ProcessOf(before.PID)
	assert.Equal(t, before.ID+"\n", lab.Run(t, "crictl", "stop", before.ID[:13]))
	testenv.ExpectEnd(t, process)
	expectAttempt(t, lab, scheduler, before.Attempt+1)
	_, err := lab.Command(t.Context(), "crictl", "stop", "no-such")
	assert.ErrorContains(t, err, "lab crictl ps")
}

func killStaticProcess(t *testing.T, lab *labtest.Lab) {
	before := containerOf(t, lab, "kube-controller-manager")
	process := testenv.ProcessOf(before.PID)
	require.NoError(t, syscall.Kill(before.PID, syscall.SIGKILL))
	testenv.ExpectEnd(t, process)
	expectAttempt(t, lab, "kube-controller-manager", before.Attempt+1)
}

func killKubelet(t *testing.T, lab *labtest.Lab) {
	before := containerOf(t, lab, scheduler)
	require.NoError(t, syscall.Kill(state(t, lab).Components["kubelet"].PID, syscall.SIGKILL))
	expectHealthy(t, lab)
	assert.Equal(t, before.PID, containerOf(t, lab, scheduler).PID, "the scheduler has ended with the kubelet")
}

// breakFlag does what a wrong edit does: no scheduler, and the reason is on the node.
func breakFlag(t *testing.T, lab *labtest.Lab) {
	manifest := filepath.Join(lab.Dir, "static-pods", scheduler+".yaml")
	good, err := os.ReadFile(manifest)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(manifest, []byte(strings.Replace(string(good), "--leader-elect=true", "--leader-elekt=true", 1)), 0o600))
	labtest.Eventually(t, "the log names the flag", func(ctx context.Context) error {
		out, err := lab.Command(ctx, "logs", scheduler)
		if err == nil && !strings.Contains(out, "unknown flag: --leader-elekt") {
			err = errors.New(out)
		}
		return err
	})
	// For a moment there is no container: the kubelet has removed one, and not made the next.
	labtest.Eventually(t, "the status fails, and has the exit code", func(ctx context.Context) error {
		out, err := lab.Command(ctx, "status")
		if err == nil || !strings.Contains(out, "static pod: its container has ended with 1") {
			return errors.New(out)
		}
		return nil
	})
}

func switchStaticPods(t *testing.T, lab *labtest.Lab) {
	process := testenv.ProcessOf(containerOf(t, lab, "kube-controller-manager").PID)
	assert.Contains(t, lab.Run(t, "up", "--static-pods=false"), "no static pod any more")
	testenv.ExpectEnd(t, process)
	expectHealthy(t, lab)
	assert.NotContains(t, lab.Run(t, "status"), "static pod")
	assert.Contains(t, lab.Run(t, "up", "--static-pods"), "is a static pod now")
	expectHealthy(t, lab)
	expectPodRuns(t, lab, "after-switching")
}

func staticDownAndUp(t *testing.T, lab *labtest.Lab) {
	process := testenv.ProcessOf(containerOf(t, lab, scheduler).PID)
	lab.Run(t, "down")
	testenv.ExpectEnd(t, process)
	lab.Run(t, "up") // it stays as it was
	containerOf(t, lab, scheduler)
	expectHealthy(t, lab)
}

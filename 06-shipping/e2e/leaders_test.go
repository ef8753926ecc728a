package e2e

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	program "example.com/hacking-a-controller/06-shipping/manager" // which the image is made of, too
	"example.com/hacking-a-controller/testcluster"
)

// runAsManager makes this test program the manager.
const runAsManager = "RUN_AS_MANAGER"

func TestMain(m *testing.M) {
	if os.Getenv(runAsManager) != "" {
		cli.Main(program.Command(os.Getenv, program.Run))
	}
	os.Exit(m.Run())
}

// paused stops the process of the leader, as a laptop does that sleeps, and lets it go on
// when another leads. It believes for up to ten seconds that it still has the Lease, and
// makes requests as if it had.
func paused(t *testing.T, l *lab) {
	o := l.startLoad(t, "paused", 1)
	o.atLeast(3)
	before, pod := l.leader(), l.leaderPod()
	resume := l.freeze("/manager", addressOf(pod))
	l.leads(before)
	resume()
	l.eventually("the old leader to end, and to be started again", func() string {
		now, err := l.client.CoreV1().Pods(system).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if restarts(*now) == restarts(pod) {
			return "it runs as before"
		}
		return ""
	})
	o.finish()
	l.rolledOut(older)
}

func restarts(pod corev1.Pod) (count int32) {
	for _, status := range pod.Status.ContainerStatuses {
		count += status.RestartCount
	}
	return count
}

// twoLeaders has a second manager that works without the Lease, from beginning to end, and
// many Ats that are due in the same second.
func twoLeaders(t *testing.T, l *lab) {
	const many = 30
	self, err := os.Executable()
	require.NoError(t, err)
	second := exec.CommandContext(t.Context(), self, "--leader-elect=false", "--metrics-bind-address=0", "--health-bind-address=127.0.0.1:0")
	second.Env = append(os.Environ(), runAsManager+"=1", "KUBECONFIG="+l.kubeconfig())
	second.Cancel = func() error { return second.Process.Signal(syscall.SIGTERM) } // with the test, if not before
	log := &testcluster.Output{}
	second.Stdout, second.Stderr = log, log
	require.NoError(t, second.Start())
	stop := sync.OnceFunc(func() {
		assert.NoError(t, second.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, second.Wait(), log)
	})
	t.Cleanup(stop)
	l.eventually("the second to work", func() string {
		if strings.Count(log.String(), `"Starting workers"`) < 2 {
			return log.String()
		}
		return ""
	})
	l.leaderPod() // and the first one works, too

	l.startLoad(t, "two-leaders", many).finish()
	stop()
	t.Logf("the second leader has created %d of %d pods", strings.Count(log.String(), `"created the pod"`), many)
}

package scheduler

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/06-shipping/controlplane/scheduler/spreadstarts"
)

const (
	stock = "default-scheduler"
	own   = "spread-starts"
)

func TestBurstIsSpread(t *testing.T) {
	startScheduler(t, `{"startsPerNode": 0}`)
	for name, tc := range map[string]struct {
		scheduler string
		check     func(t *testing.T, placed map[string]int)
	}{
		"the stock scheduler starts most on the large node": {stock, func(t *testing.T, placed map[string]int) {
			assert.Greater(t, placed["large"], 12/2, "%v", placed)
		}},
		"our scheduler starts equally many on each": {own, func(t *testing.T, placed map[string]int) {
			assert.Equal(t, map[string]int{"large": 3, "small-1": 3, "small-2": 3, "small-3": 3}, placed)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			burst(t, tc.scheduler, 12)
			tc.check(t, expectPlaced(t, 12))
		})
	}
}

func TestPodWaitsUntilAnotherHasStarted(t *testing.T) {
	startScheduler(t, `{"startsPerNode": 1}`)
	for name, end := range map[string]func(*testing.T){
		"another becomes Ready": func(t *testing.T) {
			updateStatus(t, onNode(t, "small-2"), corev1.PodStatus{
				Phase:      corev1.PodRunning,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			})
		},
		"another finishes": func(t *testing.T) {
			updateStatus(t, onNode(t, "small-2"), corev1.PodStatus{Phase: corev1.PodSucceeded})
		},
	} {
		t.Run(name, func(t *testing.T) {
			burst(t, own, 5)
			placed := expectPlaced(t, 4)
			assert.Equal(t, map[string]int{"large": 1, "small-1": 1, "small-2": 1, "small-3": 1}, placed)
			expectWaiting(t, "4 node already starts 1 pod")

			end(t)
			expectPlaced(t, 5) // because of the event: see decision
		})
	}
}

// startScheduler starts our scheduler with the profile spread-starts alone: the lab's own
// scheduler has the other one.
func startScheduler(t *testing.T, args string) {
	t.Helper()
	readSources(t)
	content, err := os.ReadFile(filepath.Join(sources, "config.yaml"))
	require.NoError(t, err)
	var config configv1.KubeSchedulerConfiguration
	require.NoError(t, yaml.UnmarshalStrict(content, &config))
	config.ClientConnection.Kubeconfig = cluster.kubeconfig()
	config.LeaderElection.LeaderElect = new(false)
	profile := config.Profiles[1]
	require.Equal(t, own, *profile.SchedulerName)
	profile.PluginConfig = []configv1.PluginConfig{{Name: spreadstarts.Name, Args: runtime.RawExtension{Raw: []byte(args)}}}
	config.Profiles = []configv1.KubeSchedulerProfile{profile}
	content, err = yaml.Marshal(config)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(file, content, 0o600))

	stop, err := start(context.WithoutCancel(t.Context()), program, "--config="+file, "--secure-port=0")
	require.NoError(t, err)
	t.Cleanup(func() {
		if log := stop(); t.Failed() {
			t.Logf("the scheduler printed:\n%s", log)
		}
	})
}

// burst creates n pods at once that do not become Ready by themselves for an hour, and deletes
// them when the test ends.
func burst(t *testing.T, scheduler string, n int) {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(sources, "burst.yaml"))
	require.NoError(t, err)
	replaced := strings.NewReplacer(
		own, scheduler,
		"{labels: {app: burst}}", "{labels: {app: burst}, annotations: {starts-for: 1h}}",
		"parallelism: 12", fmt.Sprint("parallelism: ", n),
		"completions: 12", fmt.Sprint("completions: ", n),
	).Replace(string(manifest))
	file := filepath.Join(t.TempDir(), "burst.yaml")
	require.NoError(t, os.WriteFile(file, []byte(replaced), 0o600))
	_, err = cluster.command(t.Context(), "kubectl", "apply", "-f", file)
	require.NoError(t, err)
	t.Cleanup(func() { // and wait until no pod of it is left on the nodes
		_, err := cluster.command(context.Background(), "kubectl", "delete", "-f", file, "--cascade=foreground", timeoutFlag)
		require.NoError(t, err)
	})
}

// updateStatus gives a pod another status.
func updateStatus(t *testing.T, pod *corev1.Pod, status corev1.PodStatus) {
	t.Helper()
	pod.Status = status
	_, err := cluster.client(t).CoreV1().Pods(pod.Namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// decision is how long a test waits for a node. The scheduler tries each rejected pod again after five
// minutes; a test that waited so long would pass without the events of the plug-in.
var decision = min(testTimeout, 4*time.Minute)

// expectPlaced waits until n pods have a node, and returns how many each node has.
func expectPlaced(t *testing.T, n int) (placed map[string]int) {
	t.Helper()
	eventually(t, decision, fmt.Sprintf("%d pods have a node", n), func(ctx context.Context) error {
		pods, err := cluster.client(t).CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		placed = map[string]int{}
		sum := 0
		for _, pod := range pods.Items {
			if pod.Spec.NodeName != "" {
				placed[pod.Spec.NodeName]++
				sum++
			}
		}
		if sum != n {
			return fmt.Errorf("%d have", sum)
		}
		return nil
	})
	return placed
}

// expectWaiting waits until one pod could not be scheduled, for the reason.
func expectWaiting(t *testing.T, reason string) {
	t.Helper()
	eventually(t, testTimeout, "a pod waits, because "+reason, func(ctx context.Context) error {
		pods, err := cluster.client(t).CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
		if err != nil {
			return err
		}
		if len(pods.Items) != 1 {
			return fmt.Errorf("%d pods wait", len(pods.Items))
		}
		_, condition := podutil.GetPodCondition(&pods.Items[0].Status, corev1.PodScheduled)
		if condition == nil || !strings.Contains(condition.Message, reason) {
			return fmt.Errorf("its condition is %v", condition)
		}
		return nil
	})
}

// onNode returns the pod on a node.
func onNode(t *testing.T, node string) *corev1.Pod {
	t.Helper()
	pods, err := cluster.client(t).CoreV1().Pods(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	require.NoError(t, err)
	require.Len(t, pods.Items, 1)
	return &pods.Items[0]
}

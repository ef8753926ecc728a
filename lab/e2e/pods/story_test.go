package pods

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// The words that the tests tell their stories in.

// newNamespace makes a namespace for one test and deletes it afterwards. It
// lets the test run beside the others.
func newNamespace(t *testing.T) string {
	t.Helper()
	t.Parallel()
	name := "test-" + rand.String(6)
	client := lab.Client(t)
	_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	labtest.Eventually(t, "the default service account exists", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := lab.Command(context.Background(), "kubectl", "describe", "pods", "-n", name)
			t.Log(out)
		}
		_ = client.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
	return name
}

// createPod creates a pod from YAML, the spec alone.
func createPod(t *testing.T, namespace, name, spec string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"app": name}}}
	require.NoError(t, yaml.UnmarshalStrict([]byte(spec), &pod.Spec))
	_, err := lab.Client(t).CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
}

// expectPod waits until the pod is as it should be, and returns it.
func expectPod(t *testing.T, namespace, name, what string, is func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	labtest.Eventually(t, "pod "+name+" "+what, func(ctx context.Context) error {
		var err error
		pod, err = lab.Client(t).CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !is(pod) {
			return fmt.Errorf("its status is %s", oneLine(pod.Status))
		}
		return nil
	})
	return pod
}

func expectPhase(t *testing.T, namespace, name string, phase corev1.PodPhase) *corev1.Pod {
	t.Helper()
	return expectPod(t, namespace, name, "is "+string(phase), func(p *corev1.Pod) bool { return p.Status.Phase == phase })
}

func expectReady(t *testing.T, namespace, name string) *corev1.Pod {
	t.Helper()
	return expectPod(t, namespace, name, "is ready", isReady)
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// expectLog waits until the pod's log holds every one of the lines.
func expectLog(t *testing.T, namespace, name string, lines ...string) {
	t.Helper()
	labtest.Eventually(t, "the log of "+name+" is complete", func(ctx context.Context) error {
		log, err := lab.Command(ctx, "kubectl", "logs", name, "-n", namespace, "--all-containers")
		if err != nil {
			return err
		}
		for _, line := range lines {
			if !strings.Contains(log, line) {
				return fmt.Errorf("no %q in the log: %q", line, log)
			}
		}
		return nil
	})
}

// expectEvent waits for an event about the pod whose message holds text.
func expectEvent(t *testing.T, namespace, name, reason, text string) {
	t.Helper()
	labtest.Eventually(t, "an event says "+text, func(ctx context.Context) error {
		events, err := lab.Client(t).CoreV1().Events(namespace).List(ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.name=" + name + ",reason=" + reason,
		})
		if err != nil {
			return err
		}
		var seen []string
		for _, e := range events.Items {
			if strings.Contains(e.Message, text) {
				return nil
			}
			seen = append(seen, e.Message)
		}
		return fmt.Errorf("events with reason %s: %q", reason, seen)
	})
}

func oneLine(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

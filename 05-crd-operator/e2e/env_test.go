package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	atclient "example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned/typed/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// env is a namespace, and the operator that works in it.
type env struct {
	*lab
	t         *testing.T
	operator  string
	namespace string
	ats       atclient.AtInterface
	pods      *podLog
}

// newEnv makes a namespace that lets in only pods that meet the restricted profile.
func (l *lab) newEnv(t *testing.T, operator string) *env {
	t.Helper()
	namespace, err := l.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: operator + "-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	s := &env{lab: l, t: t, operator: operator, namespace: namespace.Name}
	s.ats = versioned.NewForConfigOrDie(l.config).CnatV1alpha1().Ats(s.namespace)
	s.watchPods()
	return s
}

// start runs the operator. It ends with the test, if it was not killed before.
func (s *env) start() (kill func()) {
	s.t.Helper()
	var stderr bytes.Buffer
	program := exec.Command(filepath.Join(s.programs, s.operator), "--kubeconfig", s.kubeconfigOf(s.operator), "-n", s.namespace)
	program.Stderr = &stderr
	require.NoError(s.t, program.Start())

	killed := false
	end := sync.OnceFunc(func() {
		signal := syscall.SIGTERM
		if killed {
			signal = syscall.SIGKILL
		}
		err := program.Process.Signal(signal) // which fails if it has ended by itself
		// A program that does not end at the first signal must not stop the tests.
		after := time.AfterFunc(testcluster.TestTimeout, func() { _ = program.Process.Kill() })
		defer after.Stop()
		if ended := program.Wait(); !killed {
			err = errors.Join(err, ended)
		}
		if s.t.Failed() || err != nil {
			s.t.Logf("%s printed:\n%s", s.operator, &stderr)
		}
		assert.NoError(s.t, err)
	})
	s.t.Cleanup(end)
	return func() { killed = true; end() }
}

func (s *env) create(name, schedule, command string) *cnat.At {
	s.t.Helper()
	at, err := s.ats.Create(s.t.Context(), &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       cnat.AtSpec{Schedule: schedule, Command: command},
	}, metav1.CreateOptions{})
	require.NoError(s.t, err)
	return at
}

// apply is kubectl apply of a file, by the administrator.
func (s *env) apply(path string) {
	s.t.Helper()
	content, err := os.ReadFile(path) // not by kubectl, for Go's test cache
	require.NoError(s.t, err)
	kubectl := exec.CommandContext(s.t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"),
		"--kubeconfig", s.kubeconfig, "--namespace", s.namespace, "apply", "-f", "-")
	kubectl.Stdin = bytes.NewReader(content)
	output, err := kubectl.CombinedOutput()
	require.NoError(s.t, err, "%s", output)
}

// Schedules. The API has whole seconds, so most that are in the future are, too.
const long = "2019-04-12T10:12:00Z" // long ago

func in(d time.Duration) (time.Time, string) {
	due := time.Now().Add(d).Truncate(time.Second)
	return due, due.UTC().Format(time.RFC3339)
}

// schedule lets an At that still waits be due in d from now, and returns when that is.
func (s *env) schedule(name string, d time.Duration) time.Time {
	s.t.Helper()
	due, schedule := in(d)
	_, err := s.ats.Patch(s.t.Context(), name, types.MergePatchType, []byte(`{"spec":{"schedule":"`+schedule+`"}}`), metav1.PatchOptions{})
	require.NoError(s.t, err)
	return due
}

// becomes waits until an At is in a phase.
func (s *env) becomes(name string, phase cnat.AtPhase) *cnat.At {
	s.t.Helper()
	var at *cnat.At
	require.EventuallyWithT(s.t, func(t *assert.CollectT) {
		got, err := s.ats.Get(s.t.Context(), name, metav1.GetOptions{})
		if assert.NoError(t, err) && assert.Equal(t, phase, got.Status.Phase, "%s: %v", name, got.Status.Conditions) {
			at = got
		}
	}, testcluster.TestTimeout, pause)
	return at
}

// outcome is the reason of the last condition.
func outcome(at *cnat.At) string {
	conditions := at.Status.Conditions
	return conditions[len(conditions)-1].Type + " " + conditions[len(conditions)-1].Reason
}

// prints is what the pod of an At has printed.
func (s *env) prints(name string) string {
	s.t.Helper()
	output, err := s.client.CoreV1().Pods(s.namespace).GetLogs(name+"-pod", &corev1.PodLogOptions{}).DoRaw(s.t.Context())
	require.NoError(s.t, err)
	return string(output)
}

// podLog has every pod that ever was in a namespace, as it was last.
type podLog struct {
	mu  sync.Mutex
	all map[types.UID]*corev1.Pod
}

func (s *env) watchPods() {
	s.t.Helper()
	w, err := s.client.CoreV1().Pods(s.namespace).Watch(s.t.Context(), metav1.ListOptions{})
	require.NoError(s.t, err)
	s.pods = &podLog{all: map[types.UID]*corev1.Pod{}}
	testcluster.Run(s.t, func(context.Context) error {
		for e := range w.ResultChan() {
			if pod, ok := e.Object.(*corev1.Pod); ok {
				s.pods.note(pod, e.Type)
			}
		}
		return nil
	})
}

func (l *podLog) note(pod *corev1.Pod, change watch.EventType) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if change == watch.Deleted {
		pod.Status.Reason = gone
	}
	l.all[pod.UID] = pod
}

// gone is in place of the reason of a pod that was deleted.
const gone = "Gone"

// of are all pods that an At of this name ever had.
func (l *podLog) of(name string) []*corev1.Pod {
	l.mu.Lock()
	defer l.mu.Unlock()
	var pods []*corev1.Pod
	for _, pod := range l.all {
		if pod.Labels["app"] == name {
			pods = append(pods, pod)
		}
	}
	return pods
}

package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

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
}

// newEnv makes a namespace that lets in only pods that meet the restricted profile.
func (l *lab) newEnv(t *testing.T, operator string) *env {
	t.Helper()
	namespace, err := l.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: operator + "-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	ats := versioned.NewForConfigOrDie(l.config).CnatV1alpha1().Ats(namespace.Name)
	return &env{lab: l, t: t, operator: operator, namespace: namespace.Name, ats: ats}
}

// start runs the operator until the test ends.
func (s *env) start() {
	s.t.Helper()
	var stderr bytes.Buffer
	program := exec.Command(filepath.Join(s.programs, s.operator), "--kubeconfig", s.kubeconfigOf(s.operator), "-n", s.namespace)
	program.Stderr = &stderr
	require.NoError(s.t, program.Start())
	s.t.Cleanup(func() {
		err := program.Process.Signal(syscall.SIGTERM) // which fails if it has ended by itself
		// A program that does not end at the first signal must not stop the tests.
		after := time.AfterFunc(testcluster.TestTimeout, func() { _ = program.Process.Kill() })
		defer after.Stop()
		err = errors.Join(err, program.Wait())
		if s.t.Failed() || err != nil {
			s.t.Logf("%s printed:\n%s", s.operator, &stderr)
		}
		assert.NoError(s.t, err)
	})
}

// create creates an At that is long due.
func (s *env) create(name, command string) {
	s.t.Helper()
	_, err := s.ats.Create(s.t.Context(), &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       cnat.AtSpec{Schedule: "2019-04-12T10:12:00Z", Command: command},
	}, metav1.CreateOptions{})
	require.NoError(s.t, err)
}

// createSample creates the At of the book.
func (s *env) createSample() {
	s.t.Helper()
	content, err := os.ReadFile("../config/samples/at.yaml")
	require.NoError(s.t, err)
	var at cnat.At
	require.NoError(s.t, yaml.UnmarshalStrict(content, &at))
	_, err = s.ats.Create(s.t.Context(), &at, metav1.CreateOptions{})
	require.NoError(s.t, err)
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

// logs is what the pod of an At has printed.
func (s *env) logs(name string) string {
	s.t.Helper()
	output, err := s.client.CoreV1().Pods(s.namespace).GetLogs(name+"-pod", &corev1.PodLogOptions{}).DoRaw(s.t.Context())
	require.NoError(s.t, err)
	return string(output)
}

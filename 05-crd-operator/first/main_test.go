//go:build !try

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// TestMain runs main itself when a test has started this program as the operator.
func TestMain(m *testing.M) {
	if os.Getenv("FIRST_RUNS_MAIN") != "" {
		main()
		return
	}
	testcluster.Main(m)
}

// env is a namespace, and a client that reads from the server.
type env struct {
	*testing.T
	client.Client
	cluster *testcluster.Cluster
}

func newEnv(t *testing.T) env {
	t.Helper()
	c := testcluster.Shared(t)
	c.InstallCRDs(t, testcluster.ReadCRDs(t, "../config/crd")...)
	require.NoError(t, cnat.AddToScheme(scheme.Scheme))
	live, err := client.New(c.Config, client.Options{})
	require.NoError(t, err)
	require.NoError(t, client.IgnoreAlreadyExists(live.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "harbour"}})))
	return env{t, live, c}
}

// mustCreate creates an At that runs echo YAY at a time from now. It is deleted with
// the test, and so is its pod, as nothing here collects garbage.
func (e env) mustCreate(name string, fromNow time.Duration) *cnat.At {
	e.Helper()
	at := &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: "harbour", Name: name},
		Spec:       cnat.AtSpec{Schedule: time.Now().Add(fromNow).UTC().Format(time.RFC3339), Command: "echo YAY"},
	}
	require.NoError(e, e.Create(e.Context(), at))
	e.Cleanup(func() {
		ctx := context.WithoutCancel(e.Context())
		assert.NoError(e, e.Delete(ctx, at))
		assert.NoError(e, client.IgnoreNotFound(e.Delete(ctx, desiredPod(at), client.GracePeriodSeconds(0))))
	})
	return at
}

func (e env) phase(at *cnat.At) cnat.AtPhase {
	e.Helper()
	require.NoError(e, e.Get(e.Context(), client.ObjectKeyFromObject(at), at))
	return at.Status.Phase
}

func (e env) pod(at *cnat.At) (*corev1.Pod, error) {
	pod := desiredPod(at)
	return pod, e.Get(e.Context(), client.ObjectKeyFromObject(pod), pod)
}

// mustEnd gives the pod the status of one that has ended, as no kubelet does it here.
func (e env) mustEnd(pod *corev1.Pod, phase corev1.PodPhase) {
	e.Helper()
	pod.Status.Phase = phase
	require.NoError(e, e.Status().Update(e.Context(), pod))
}

// reconcile reconciles the At once, with a client that has no cache.
func (e env) reconcile(at *cnat.At) (ctrl.Result, error) {
	return (&reconciler{e}).Reconcile(e.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(at)})
}

func (e env) mustReconcile(at *cnat.At) ctrl.Result {
	e.Helper()
	result, err := e.reconcile(at)
	require.NoError(e, err)
	return result
}

func TestAnAtGoesFromPendingToDone(t *testing.T) {
	for _, end := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed} {
		t.Run(string(end), func(t *testing.T) {
			e := newEnv(t)
			at := e.mustCreate("bell", -time.Hour)
			for _, want := range []cnat.AtPhase{cnat.Pending, cnat.Running, cnat.Running, cnat.Running} {
				assert.Zero(t, e.mustReconcile(at))
				assert.Equal(t, want, e.phase(at))
			}
			pod, err := e.pod(at)
			require.NoError(t, err)
			assert.True(t, metav1.IsControlledBy(pod, at))
			assert.Equal(t, map[string]string{"app": "bell"}, pod.Labels)
			assert.Equal(t, []string{"echo", "YAY"}, pod.Spec.Containers[0].Command)

			e.mustEnd(pod, end)
			e.mustReconcile(at)
			assert.Equal(t, cnat.Done, e.phase(at))
			done := at.ResourceVersion
			e.mustReconcile(at)
			e.phase(at)
			assert.Equal(t, done, at.ResourceVersion, "nothing is left to do")
		})
	}
}

func TestAnAtWaitsForItsTime(t *testing.T) {
	e := newEnv(t)
	at := e.mustCreate("buoy", time.Hour)
	e.mustReconcile(at)
	result := e.mustReconcile(at)
	assert.InDelta(t, time.Hour, result.RequeueAfter, float64(testcluster.TestTimeout))
	assert.Equal(t, cnat.Pending, e.phase(at))
	_, err := e.pod(at)
	assert.True(t, apierrors.IsNotFound(err))
}

func TestAnAtThatIsGoneIsNoError(t *testing.T) {
	assert.Zero(t, newEnv(t).mustReconcile(&cnat.At{ObjectMeta: metav1.ObjectMeta{Namespace: "harbour", Name: "wreck"}}))
}

func TestAScheduleThatIsNoTimeIsAnError(t *testing.T) {
	e := newEnv(t)
	// The schema admits it, and Go does not: RFC 3339 allows a small t and z.
	at := e.mustCreate("lamp", 0)
	at.Spec.Schedule = "2019-04-12t10:12:00z"
	require.NoError(t, e.Update(t.Context(), at))
	e.mustReconcile(at)
	_, err := e.reconcile(at)
	require.ErrorContains(t, err, `reading the schedule: parsing time "2019-04-12t10:12:00z"`)
}

// The whole program, with its watches. Each change that it waits for comes by one.
func TestTheProgram(t *testing.T) {
	e := newEnv(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, e.cluster.KubeConfig, 0o600))
	var log bytes.Buffer
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), "FIRST_RUNS_MAIN=yes", "KUBECONFIG="+kubeconfig)
	program.Stderr = &log
	require.NoError(t, program.Start())
	t.Cleanup(func() { _ = program.Process.Kill() }) // if it has not ended by then

	at := e.mustCreate("bell", time.Hour)
	becomes := func(phase cnat.AtPhase) {
		t.Helper()
		require.Eventually(t, func() bool { return e.phase(at) == phase }, testcluster.TestTimeout, 10*time.Millisecond)
	}
	becomes(cnat.Pending)
	require.Eventually(t, func() bool { // its status may be written in between
		e.phase(at)
		at.Spec.Schedule = "2019-04-12T10:12:00Z"
		return e.Update(t.Context(), at) == nil
	}, testcluster.TestTimeout, 10*time.Millisecond)
	becomes(cnat.Running)
	var pod *corev1.Pod
	require.Eventually(t, func() (there bool) {
		var err error
		pod, err = e.pod(at)
		return err == nil
	}, testcluster.TestTimeout, 10*time.Millisecond)
	e.mustEnd(pod, corev1.PodSucceeded)
	becomes(cnat.Done)

	require.NoError(t, program.Process.Signal(os.Interrupt))
	require.NoError(t, program.Wait())
	assert.Contains(t, log.String(), `"set the phase"`)
}

// What make diff-5 prints as a line of a program is one.
func TestTheTableQuotesBothPrograms(t *testing.T) {
	read := func(path string) string {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(content)
	}
	before, after := read("../../04-informer-queue/first/main.go"), read("main.go")
	_, rows, _ := strings.Cut(strings.TrimSpace(read("../lesson/diff.txt")), "\n\n")
	for row := range strings.Lines(rows) {
		columns := regexp.MustCompile(`\s{2,}`).Split(row, 3)
		require.Len(t, columns, 3, row)
		for quote, program := range map[string]string{columns[0]: before, columns[1]: after} {
			if quote != "-" {
				assert.Contains(t, program, quote)
			}
		}
	}
}

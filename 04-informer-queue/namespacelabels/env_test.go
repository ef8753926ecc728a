package main_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/testcluster"
)

const (
	configMap  = "namespace-labels"
	annotation = "example.com/namespace-labels"
	managedBy  = "app.kubernetes.io/managed-by"
)

// env is the cluster of one test, with the program, and with what the judge does there. The
// judge does not use the proxy.
type env struct {
	t      *testing.T
	client kubernetes.Interface
	proxy  *proxy
	path   string // of the executable

	// the program that was started last
	command *exec.Cmd
	output  *testcluster.Output
	ended   chan struct{} // closed when it has ended
	err     error         // set when it has ended
}

// newEnv returns an env whose cluster has only the namespaces of Kubernetes itself. It builds the
// program, in the cluster's folder, unless that is there.
func newEnv(t *testing.T) *env {
	t.Helper()
	c := testcluster.Shared(t)
	e := &env{t: t, client: c.Client, path: os.Getenv("PROGRAM"), proxy: startProxy(t, c.Config)}
	if e.path == "" {
		e.path = filepath.Join(filepath.Dir(c.Kubeconfig), "namespacelabels")
		if _, err := os.Stat(e.path); err != nil {
			output, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", e.path, ".").CombinedOutput()
			require.NoError(t, err, "the program does not compile: %s", output)
		}
	}
	return e
}

// withHarbour returns an env in which the program has made the ConfigMap of the namespace harbour.
func withHarbour(t *testing.T) *env {
	t.Helper()
	e := newEnv(t)
	e.namespace("harbour", asking, map[string]string{"team": "coast", "b": "2", "c": "3", "d": "4", "e": "5"})
	e.start()
	e.reach("harbour")
	return e
}

// finish deletes a namespace with its contents, as the namespace controller would; none runs here.
func (e *env) finish(ctx context.Context, namespace string) error {
	err := e.client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil && !apierrors.IsConflict(err) { // it is being deleted already
		return err
	}
	if err := e.client.CoreV1().ConfigMaps(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	_, err = e.client.CoreV1().Namespaces().Finalize(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.UpdateOptions{})
	return err
}

// start starts the program with only KUBECONFIG in its environment, and waits until it reads
// the namespaces.
func (e *env) start() {
	e.t.Helper()
	command, output, ended := exec.Command(e.path), &testcluster.Output{}, make(chan struct{})
	command.Dir = e.t.TempDir()
	command.Env = []string{"KUBECONFIG=" + e.proxy.kubeconfig}
	command.Stdout, command.Stderr = output, output
	command.WaitDelay = testcluster.TestTimeout // in case a child process still holds the pipe
	require.NoError(e.t, command.Start(), "PROGRAM has to be the absolute path of an executable file")
	e.command, e.output, e.ended = command, output, ended
	go func() {
		e.err = command.Wait()
		close(ended)
	}()
	e.t.Cleanup(e.kill)
	began := len(e.proxy.all())
	e.eventually(func() string {
		for _, r := range e.proxy.sent(began, "LIST WATCH", "") {
			if r.path == "/api/v1/namespaces" && r.status == http.StatusOK {
				return ""
			}
		}
		return "the program runs, but does not read the namespaces of the API server that KUBECONFIG names"
	})
}

// kill ends the program with SIGKILL.
func (e *env) kill() {
	_ = e.command.Process.Kill() // fails if it has ended already
	<-e.ended
}

// stop sends a signal, after which the program has to end with exit code 0. An idle program
// needs milliseconds.
func (e *env) stop(signal syscall.Signal) {
	e.t.Helper()
	require.NoError(e.t, e.command.Process.Signal(signal))
	select {
	case <-e.ended:
		require.NoError(e.t, e.err, "the program did not end with exit code 0 at signal %d (%[1]v)%s", signal, e.printed())
	case <-time.After(testcluster.TestTimeout):
		require.FailNow(e.t, fmt.Sprintf("the program still runs %s after signal %d (%[2]v)%s", testcluster.TestTimeout, signal, e.printed()))
	}
}

// printed returns what the program did last, and the last lines that it printed.
func (e *env) printed() string {
	writes, lines := e.proxy.writes(0, ""), e.output.Lines()
	return fmt.Sprintf("; its last writes: %v; it printed:\n%s", writes[max(0, len(writes)-3):], strings.Join(lines[max(0, len(lines)-10):], "\n"))
}

// eventually waits until problem returns no problem. It gives up after 700 checks during which the program
// sends no request: that is enough for a program that waits a few seconds before it retries. Each check is a
// request of the judge, so it waits longer on a busy machine.
func (e *env) eventually(problem func() string) {
	e.t.Helper()
	checks := time.NewTicker(10 * time.Millisecond)
	defer checks.Stop()
	requests, quiet := -1, 0
	for deadline := time.Now().Add(testcluster.TestTimeout); ; <-checks.C {
		missing := problem()
		if missing == "" {
			return
		}
		select {
		case <-e.ended:
			require.FailNow(e.t, fmt.Sprintf("the program ended by itself (%v), but it has to run until it is stopped%s", e.command.ProcessState, e.printed()))
		default:
		}
		if n := len(e.proxy.all()); n != requests {
			requests, quiet = n, 0
		}
		if quiet++; quiet > 700 || time.Now().After(deadline) {
			require.FailNow(e.t, missing+e.printed())
		}
	}
}

// asking are the annotations of a namespace that asks for the ConfigMap.
var asking = map[string]string{annotation: ""}

// namespace creates a namespace, which is gone when the test has ended.
func (e *env) namespace(name string, annotations, labels map[string]string) {
	e.t.Helper()
	_, err := e.client.CoreV1().Namespaces().Create(e.t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations, Labels: labels},
	}, metav1.CreateOptions{})
	require.NoError(e.t, err)
	e.t.Cleanup(func() { require.NoError(e.t, e.finish(context.Background(), name)) })
}

// change merges a value into the metadata of a namespace, such as "tide", or null, which removes the key.
func (e *env) change(namespace, field, key, value string) {
	e.t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{%q:{%q:%s}}}`, field, key, value)
	_, err := e.client.CoreV1().Namespaces().Patch(e.t.Context(), namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(e.t, err)
}

// edit changes the ConfigMap of a namespace, as another client would.
func (e *env) edit(namespace, patch string) {
	e.t.Helper()
	_, err := e.client.CoreV1().ConfigMaps(namespace).Patch(e.t.Context(), configMap, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(e.t, err)
}

// remove deletes the ConfigMap of a namespace, as another client would.
func (e *env) remove(namespace string) {
	e.t.Helper()
	require.NoError(e.t, e.client.CoreV1().ConfigMaps(namespace).Delete(e.t.Context(), configMap, metav1.DeleteOptions{}))
}

// foreign creates a ConfigMap that is not the program's, and returns it.
func (e *env) foreign(namespace string) *corev1.ConfigMap {
	e.t.Helper()
	created, err := e.client.CoreV1().ConfigMaps(namespace).Create(e.t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: configMap, Labels: map[string]string{managedBy: "Helm"}},
		Data:       map[string]string{"labels": "mine"},
	}, metav1.CreateOptions{})
	require.NoError(e.t, err)
	return created
}

// get returns the ConfigMap of a namespace, or nil if there is none.
func (e *env) get(namespace string) *corev1.ConfigMap {
	e.t.Helper()
	have, err := e.client.CoreV1().ConfigMaps(namespace).Get(e.t.Context(), configMap, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(e.t, err)
	return have
}

// reach waits until the ConfigMaps of these namespaces are as they should be.
func (e *env) reach(namespaces ...string) {
	e.t.Helper()
	for _, namespace := range namespaces {
		ns, err := e.client.CoreV1().Namespaces().Get(e.t.Context(), namespace, metav1.GetOptions{})
		require.NoError(e.t, err)
		_, asks := ns.Annotations[annotation]
		want := map[string]string{"labels": labels.Set(ns.Labels).String()}
		e.eventually(func() string {
			have := e.get(namespace)
			switch own := have != nil && have.Labels[managedBy] == configMap; {
			case !asks && own:
				return fmt.Sprintf("namespace %s no longer asks for a ConfigMap %s, but still has one", namespace, configMap)
			case !asks:
				return ""
			case have == nil:
				return fmt.Sprintf("namespace %s asks for a ConfigMap %s, but has none", namespace, configMap)
			case !own:
				return fmt.Sprintf("the ConfigMap of namespace %s does not have the label %s=%s", namespace, managedBy, configMap)
			case fmt.Sprint(have.Data) != fmt.Sprint(want): // maps are printed in order
				return fmt.Sprintf("the ConfigMap of namespace %s has the data %q, but should have %q", namespace, have.Data, want)
			}
			return ""
		})
	}
}

// turn waits until the program must have seen all earlier changes: it changes a namespace and
// deletes a ConfigMap, whose events come last in their watches, and waits until the program
// has acted on both.
func (e *env) turn() {
	e.t.Helper()
	const namespace = "turn"
	if _, err := e.client.CoreV1().Namespaces().Get(e.t.Context(), namespace, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		e.namespace(namespace, asking, nil)
	}
	e.change(namespace, "labels", "turn", fmt.Sprintf(`"%d"`, time.Now().UnixNano()))
	e.reach(namespace)
	e.remove(namespace)
	e.reach(namespace)
}

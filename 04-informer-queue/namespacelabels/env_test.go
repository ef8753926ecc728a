package main_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
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
	t       *testing.T
	client  kubernetes.Interface
	proxy   *proxy
	path    string   // of the executable
	program *program // the last one that was started

	// The judge gives up after stallAfter checks during which the program sends no request.
	// Each check is a request of the judge, so it waits longer on a busy machine.
	stallAfter int
}

// tick is the time between two checks.
const tick = 10 * time.Millisecond

// built is the program, built once for all tests.
var built struct {
	once sync.Once
	path string
	err  error
}

// build builds the program while the API server starts. The executable is in the cluster's
// folder, and is removed with it.
func build(t *testing.T) (path string, err error) {
	built.once.Do(func() {
		fresh := filepath.Join(t.TempDir(), "namespacelabels")
		var building errgroup.Group
		building.Go(func() error {
			if output, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", fresh, ".").CombinedOutput(); err != nil {
				return fmt.Errorf("the program does not compile: %s", output)
			}
			return nil
		})
		built.path = filepath.Join(filepath.Dir(testcluster.Shared(t).Kubeconfig), "namespacelabels")
		if built.err = building.Wait(); built.err == nil {
			built.err = os.Rename(fresh, built.path)
		}
	})
	return built.path, built.err
}

// cannotRun returns why a program cannot be run, or "".
func cannotRun(path string) string {
	file, err := os.Stat(path)
	switch {
	case !filepath.IsAbs(path):
		return "is not an absolute path"
	case err != nil:
		return "does not exist"
	case file.IsDir() || file.Mode()&0o111 == 0:
		return "is not an executable file"
	}
	return ""
}

// newEnv returns an env whose cluster has only the namespaces of Kubernetes itself.
func newEnv(t *testing.T) *env {
	t.Helper()
	path := os.Getenv("PROGRAM")
	if path == "" {
		var err error
		path, err = build(t)
		require.NoError(t, err)
	} else if why := cannotRun(path); why != "" {
		require.FailNow(t, "PROGRAM is "+path+", which "+why+"; set it to the absolute path of an executable file, or unset it")
	}
	c := testcluster.Shared(t)
	e := &env{t: t, client: c.Client, path: path, stallAfter: 250}
	e.empty(t.Context())
	t.Cleanup(func() { e.empty(context.Background()) })
	e.proxy = startProxy(t, c.Config)
	return e
}

// empty deletes the namespaces with their contents, as the namespace controller would; none
// runs here.
func (e *env) empty(ctx context.Context) {
	all, err := e.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	require.NoError(e.t, err)
	var deleting errgroup.Group
	for _, ns := range all.Items {
		if ns.Name != "default" && !strings.HasPrefix(ns.Name, "kube-") {
			deleting.Go(func() error { return e.finish(ctx, ns.Name) })
		}
	}
	require.NoError(e.t, deleting.Wait())
}

// finish does what the namespace controller does for a deleted namespace.
func (e *env) finish(ctx context.Context, namespace string) error {
	err := e.client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsConflict(err) { // it is being deleted already
		return err
	}
	if err := e.client.CoreV1().ConfigMaps(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	_, err = e.client.CoreV1().Namespaces().Finalize(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.UpdateOptions{})
	return err
}

// program is one run of the program that is judged.
type program struct {
	command *exec.Cmd
	output  testcluster.Output
	ended   chan struct{} // closed when it has ended
	err     error         // set when it has ended
}

// start starts the program with only KUBECONFIG in its environment, and waits until it reads
// the namespaces.
func (e *env) start() {
	e.t.Helper()
	p := &program{command: exec.Command(e.path), ended: make(chan struct{})}
	p.command.Dir = e.t.TempDir()
	p.command.Env = []string{"KUBECONFIG=" + e.proxy.kubeconfig}
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	p.command.WaitDelay = testcluster.TestTimeout // in case a child process still holds the pipe
	require.NoError(e.t, p.command.Start())
	go func() {
		p.err = p.command.Wait()
		close(p.ended)
	}()
	e.t.Cleanup(p.kill)
	e.program = p

	began := len(e.proxy.all())
	checks := time.NewTicker(tick)
	defer checks.Stop()
	for deadline := time.Now().Add(testcluster.TestTimeout); !e.readsNamespaces(began); <-checks.C {
		e.alive()
		if time.Now().After(deadline) {
			require.FailNow(e.t, "the program runs, but does not read the namespaces of the API server that KUBECONFIG names"+p.printed())
		}
	}
}

func (e *env) readsNamespaces(since int) bool {
	for _, r := range e.proxy.all()[since:] {
		if r.path == "/api/v1/namespaces" && r.status == 200 {
			return true
		}
	}
	return false
}

// kill ends the program with SIGKILL.
func (p *program) kill() {
	_ = p.command.Process.Kill() // fails if it has ended already
	<-p.ended
}

// stop sends a signal, after which the program has to end with exit code 0. An idle program
// needs milliseconds.
func (e *env) stop(signal syscall.Signal) {
	e.t.Helper()
	e.alive()
	require.NoError(e.t, e.program.command.Process.Signal(signal))
	select {
	case <-e.program.ended:
		require.NoError(e.t, e.program.err, "the program did not end with exit code 0 at %s%s", signalName(signal), e.program.printed())
	case <-time.After(testcluster.TestTimeout):
		require.FailNow(e.t, fmt.Sprintf("the program still runs %s after %s%s", testcluster.TestTimeout, signalName(signal), e.program.printed()))
	}
}

func signalName(signal syscall.Signal) string {
	return map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}[signal]
}

// alive fails the test if the program has ended.
func (e *env) alive() {
	e.t.Helper()
	select {
	case <-e.program.ended:
		why := "exit code 0"
		if e.program.err != nil {
			why = e.program.err.Error()
		}
		require.FailNow(e.t, "the program ended by itself ("+why+"), but it has to run until it is stopped"+e.program.printed())
	default:
	}
}

// printed returns the last lines that the program printed, or the first ones of a panic.
func (p *program) printed() string {
	lines := p.output.Lines()
	begin := max(0, len(lines)-5)
	if panicked := slices.IndexFunc(lines, isPanic); panicked >= 0 {
		begin = panicked
	}
	if last := strings.TrimSpace(strings.Join(lines[begin:min(begin+5, len(lines))], "\n")); last != "" {
		return "; it printed:\n" + last
	}
	return "; it printed nothing"
}

// isPanic says whether a line is the first one of a panic.
func isPanic(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
}

// eventually waits until problem returns no problem.
func (e *env) eventually(problem func() string) {
	e.t.Helper()
	checks := time.NewTicker(tick)
	defer checks.Stop()
	requests, quiet := -1, 0
	for deadline := time.Now().Add(testcluster.TestTimeout); ; <-checks.C {
		missing := problem()
		if missing == "" {
			return
		}
		e.alive()
		if n := len(e.proxy.all()); n != requests {
			requests, quiet = n, 0
		}
		if quiet++; quiet > e.stallAfter || time.Now().After(deadline) {
			require.FailNow(e.t, missing+"; "+e.doing()+e.program.printed())
		}
	}
}

// doing reports the last writes of the program.
func (e *env) doing() string {
	var writes []string
	for _, r := range e.proxy.all() {
		if r.reads == "" {
			writes = append(writes, fmt.Sprintf("%s %s: %d", r.method, r.path, r.status))
		}
	}
	if len(writes) == 0 {
		return "it wrote nothing"
	}
	return "its last writes:\n" + strings.Join(writes[max(0, len(writes)-3):], "\n")
}

// namespace creates a namespace. With the annotations asking, it asks for the ConfigMap.
func (e *env) namespace(name string, annotations, labels map[string]string) {
	e.t.Helper()
	_, err := e.client.CoreV1().Namespaces().Create(e.t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations, Labels: labels},
	}, metav1.CreateOptions{})
	require.NoError(e.t, err)
}

// Annotations of a namespace.
var (
	asking = map[string]string{annotation: ""}
	silent = map[string]string{"example.com/other": ""}
)

// change merges a value into the metadata of a namespace. A value of nil removes the key.
func (e *env) change(namespace, field, key string, value any) {
	e.t.Helper()
	_, err := e.client.CoreV1().Namespaces().Patch(e.t.Context(), namespace, types.MergePatchType, patch(e.t, field, key, value), metav1.PatchOptions{})
	require.NoError(e.t, err)
}

func patch(t *testing.T, field, key string, value any) []byte {
	t.Helper()
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{field: map[string]any{key: value}}})
	require.NoError(t, err)
	return body
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
	created, err := e.client.CoreV1().ConfigMaps(namespace).Create(context.WithoutCancel(e.t.Context()), &corev1.ConfigMap{
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

// reach waits until the ConfigMap of a namespace is as it should be.
func (e *env) reach(namespace string) {
	e.t.Helper()
	ns, err := e.client.CoreV1().Namespaces().Get(e.t.Context(), namespace, metav1.GetOptions{})
	require.NoError(e.t, err)
	want := map[string]string{"labels": labels.Set(ns.Labels).String()}
	e.eventually(func() string {
		have := e.get(namespace)
		switch {
		case have == nil:
			return fmt.Sprintf("namespace %s asks for a ConfigMap %s, but has none", namespace, configMap)
		case have.Labels[managedBy] != configMap:
			return fmt.Sprintf("the ConfigMap of namespace %s does not have the label %s=%s", namespace, managedBy, configMap)
		case fmt.Sprint(have.Data) != fmt.Sprint(want): // maps are printed in order
			return fmt.Sprintf("the ConfigMap of namespace %s has the data %q, but should have %q", namespace, have.Data, want)
		}
		return ""
	})
}

// gone waits until a namespace has no ConfigMap.
func (e *env) gone(namespace string) {
	e.t.Helper()
	e.eventually(func() string {
		if e.get(namespace) == nil {
			return ""
		}
		return fmt.Sprintf("namespace %s no longer asks for a ConfigMap %s, but still has one", namespace, configMap)
	})
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
	e.change(namespace, "labels", "turn", fmt.Sprint(time.Now().UnixNano()))
	e.reach(namespace)
	e.remove(namespace)
	e.reach(namespace)
}

// version returns the current resource version of the cluster.
func (e *env) version() string {
	e.t.Helper()
	all, err := e.client.CoreV1().Namespaces().List(e.t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(e.t, err)
	return cmp.Or(all.ResourceVersion, "0")
}

package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/hacking-a-controller/05-crd-operator/moorings/office/desk"
	"example.com/hacking-a-controller/testcluster"
)

var resource = schema.GroupVersionResource{Group: "harbour.example.com", Version: "v1alpha1", Resource: "moorings"}

// rights are what the program may do, in its namespace.
var rights = []rbacv1.PolicyRule{
	{APIGroups: []string{resource.Group}, Resources: []string{"moorings"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
	{APIGroups: []string{resource.Group}, Resources: []string{"moorings/status", "moorings/finalizers"}, Verbs: []string{"get", "update", "patch"}},
	{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "update", "patch"}},
}

// env is a namespace, a desk, a program that is to keep both in step, and the wire between them. The judge itself
// uses no wire.
type env struct {
	*wire
	*desk.Desk
	moorings         dynamic.ResourceInterface
	cluster          *testcluster.Cluster
	space            string // the namespace
	token, tokenFile string // of the desk
	serverToken      string // of the API server
	checkSeconds     int
	maxLooks         int // how often the program may look at the desk before something has to be so

	output testcluster.Output // of all programs

	starting sync.Mutex // guards program
	program  *program   // that was started last
}

// program is a process.
type program struct {
	*exec.Cmd
	ended  chan struct{} // closed when it has ended
	err    error         // set when it has ended
	killed atomic.Bool   // by the judge, so another one is started
	began  int           // how many requests there were before
}

func newEnv(t *testing.T) *env {
	t.Helper()
	c := testcluster.Shared(t)
	setUp(t, c)
	namespace, err := c.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "harbour-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	dynamicClient, err := dynamic.NewForConfig(c.Config)
	require.NoError(t, err)
	e := &env{
		moorings: dynamicClient.Resource(resource).Namespace(namespace.Name), cluster: c, space: namespace.Name,
		token: "anchor-" + rand.String(10), serverToken: "server-" + rand.String(10),
		tokenFile: filepath.Join(t.TempDir(), "token"), checkSeconds: 1, maxLooks: 8,
	}
	e.Desk = desk.New(clock.RealClock{}, e.token)
	e.wire = newWire(t, e.Desk, e.user(t), e.serverToken)
	e.writeToken(e.token)
	return e
}

// user returns the configuration of a user who has the rights in the namespace.
func (e *env) user(t *testing.T) *rest.Config {
	t.Helper()
	name := "operator-of-" + e.space
	_, err := e.cluster.Client.RbacV1().RoleBindings(e.space).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "moorings"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "moorings"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	config := rest.CopyConfig(e.cluster.Config)
	config.Impersonate.UserName = name
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	// The authorizer hears of a binding a moment after it was made.
	require.Eventually(t, func() bool {
		_, err := client.Resource(resource).Namespace(e.space).List(t.Context(), metav1.ListOptions{})
		return err == nil
	}, testcluster.TestTimeout, 20*time.Millisecond, "the program's rights")
	return config
}

// setUp creates the CRD of the learner and the role, once for all tests.
func setUp(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	once.Do(func() {
		folder = filepath.Dir(c.Kubeconfig)
		_, errInstalling = envtest.InstallCRDs(c.Config, envtest.CRDInstallOptions{Paths: []string{"crd.yaml"}, ErrorIfPathMissing: true, MaxTime: testcluster.TestTimeout})
		if errInstalling == nil {
			_, errInstalling = c.Client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "moorings"}, Rules: rights}, metav1.CreateOptions{})
		}
	})
	require.NoError(t, errInstalling, "the API server refuses moorings/crd.yaml")
}

var (
	once          sync.Once
	errInstalling error
	folder        string // of the cluster
)

// writeToken replaces the file with the token, as the kubelet does: at no time is it half written.
func (e *env) writeToken(token string) {
	e.Helper()
	require.NoError(e, os.WriteFile(e.tokenFile+".new", []byte(token+"\n"), 0o600))
	require.NoError(e, os.Rename(e.tokenFile+".new", e.tokenFile))
}

// build compiles the program, in the cluster's folder, unless PROGRAM names one.
var build = sync.OnceValues(func() (path string, err error) {
	if path = os.Getenv("PROGRAM"); path != "" {
		return path, nil
	}
	path = filepath.Join(folder, "moorings")
	output, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("the program does not compile: %w: %s", err, output)
	}
	return path, err
})

// start starts the program, and waits until it reads the Moorings.
func (e *env) start() {
	e.Helper()
	path, err := build()
	require.NoError(e, err)
	p := &program{Cmd: exec.Command(path), ended: make(chan struct{}), began: len(e.all(0))}
	p.Dir = e.TempDir()
	p.Env = []string{
		"PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + e.kubeconfig, "WATCH_NAMESPACE=" + e.space,
		"DESK_URL=" + e.office.URL, "DESK_TOKEN_FILE=" + e.tokenFile, fmt.Sprint("CHECK_SECONDS=", e.checkSeconds),
	}
	p.Stdout, p.Stderr = &e.output, &e.output
	p.WaitDelay = testcluster.TestTimeout // in case a child process still holds the pipe
	e.starting.Lock()
	err = p.Start()
	e.program = p
	e.starting.Unlock()
	require.NoError(e, err, "PROGRAM has to be the absolute path of an executable file")
	go func() {
		p.err = p.Wait()
		close(p.ended)
	}()
	e.Cleanup(p.kill)
	e.eventually(func() string {
		if e.count(p.began, func(r request) bool { return r.verb == "LIST" || r.verb == "WATCH" }) > 0 {
			return ""
		}
		return "the program runs, but does not read the Moorings of the API server that KUBECONFIG names"
	})
}

// kill ends it with SIGKILL.
func (p *program) kill() {
	p.killed.Store(true)
	_ = p.Process.Kill() // fails if it has ended already
	<-p.ended
}

// kills is a fault: the program dies at this request, before it's served or afterwards.
func (e *env) kills(afterwards bool) fault {
	return func(_ http.ResponseWriter, r *http.Request, serve http.Handler) {
		if afterwards {
			serve.ServeHTTP(httptest.NewRecorder(), r)
		}
		e.starting.Lock()
		p := e.program
		e.starting.Unlock()
		p.kill()
		panic(http.ErrAbortHandler)
	}
}

// stop sends a signal, after which the program has to end with exit code 0.
func (e *env) stop(signal syscall.Signal) {
	e.Helper()
	require.NoError(e, e.program.Process.Signal(signal))
	select {
	case <-e.program.ended:
		require.NoError(e, e.program.err, "the program did not end with exit code 0 at signal %d (%[1]v)%s", signal, e.printed())
	case <-time.After(testcluster.TestTimeout):
		require.FailNow(e, fmt.Sprintf("the program still runs %s after signal %d (%[2]v)%s", testcluster.TestTimeout, signal, e.printed()))
	}
}

func (e *env) printed() string {
	return fmt.Sprintf("; its last writes: %s; it printed:\n%s", e.last(), tail(&e.output))
}

// eventually waits until problem returns no problem. It gives up when the program has looked at the desk so often
// that it must have seen it, or sends no request for 700 checks; but it may take its time for the first one. Each check
// is a request of the judge, so 700 are longer on a busy machine.
func (e *env) eventually(problem func() string) {
	e.Helper()
	checks := time.NewTicker(10 * time.Millisecond)
	defer checks.Stop()
	began := len(e.all(0))
	requests, quiet := began, 0
	for deadline := time.Now().Add(testcluster.TestTimeout); ; <-checks.C {
		missing := problem()
		if missing == "" {
			return
		}
		select {
		case <-e.program.ended:
			if e.program.killed.Load() {
				e.start()
				continue
			}
			require.FailNow(e, fmt.Sprintf("the program ended by itself (%v), but it has to run until it is stopped%s", e.program.ProcessState, e.printed()))
		default:
		}
		if n := len(e.all(0)); n != requests || n == e.program.began {
			requests, quiet = n, 0
		}
		if quiet++; quiet > 700 || e.count(began, request.isLook) > e.maxLooks || time.Now().After(deadline) {
			require.FailNow(e, missing+e.printed())
		}
	}
}

// during returns what the program has sent in about so many seconds, and the seconds that it was in truth. A busy
// machine makes that more, and what a limit of so many requests a second allows.
func (e *env) during(seconds int) (requests []request, took float64) {
	began, start := len(e.all(0)), time.Now()
	<-time.After(time.Duration(seconds) * time.Second) // luck: nothing may happen, and a longer pause allows more
	requests = e.all(began)
	return requests, time.Since(start).Seconds()
}

// mooring is what the judge reads of a Mooring.
type mooring struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Ship   string `json:"ship"`
		Metres int    `json:"metres"`
	} `json:"spec"`
	Status struct {
		Number             string             `json:"number"`
		Berth              string             `json:"berth"`
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// readiness returns the condition Ready; of a Mooring that has none it's empty.
func (m *mooring) readiness() metav1.Condition {
	if ready := meta.FindStatusCondition(m.Status.Conditions, "Ready"); ready != nil {
		return *ready
	}
	return metav1.Condition{}
}

// object is a Mooring with this spec, which is JSON.
func object(name, spec string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	content := fmt.Sprintf(`{"apiVersion": "harbour.example.com/v1alpha1", "kind": "Mooring", "metadata": {"name": %q}, "spec": %s}`, name, spec)
	if err := json.Unmarshal([]byte(content), u); err != nil {
		panic(err)
	}
	return u
}

// create creates a Mooring, and returns its UID, which is the reference of its booking.
func (e *env) create(name string, metres int) (reference string) {
	e.Helper()
	created, err := e.moorings.Create(e.Context(), object(name, fmt.Sprintf(`{"ship": "Beagle", "metres": %d}`, metres)), metav1.CreateOptions{})
	require.NoError(e, err)
	return string(created.GetUID())
}

// get returns a Mooring, or nil if there is none.
func (e *env) get(name string) *mooring {
	e.Helper()
	u, err := e.moorings.Get(e.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(e, err)
	m := &mooring{}
	require.NoError(e, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, m), "the fields of the status")
	return m
}

// patch changes a Mooring, or its status.
func (e *env) patch(name, patch string, subresources ...string) {
	e.Helper()
	_, err := e.moorings.Patch(e.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	require.NoError(e, err)
}

func (e *env) resize(name string, metres int) {
	e.Helper()
	e.patch(name, fmt.Sprintf(`{"spec": {"metres": %d}}`, metres))
}

func (e *env) delete(name string) {
	e.Helper()
	require.NoError(e, e.moorings.Delete(e.Context(), name, metav1.DeleteOptions{}))
}

// ready waits until Moorings have what their specs say, at the desk and in their status.
func (e *env) ready(names ...string) {
	e.Helper()
	for _, name := range names {
		e.eventually(func() string {
			if missing := e.missing(e.get(name)); missing != "" {
				return fmt.Sprintf("Mooring %s %s", name, missing)
			}
			return ""
		})
	}
}

// missing says what a Mooring lacks.
func (e *env) missing(m *mooring) string {
	if m == nil {
		return "is gone"
	}
	booked, ready := e.Bookings(string(m.UID)), m.readiness()
	switch {
	case len(booked) == 0:
		return "has no booking at the desk with its UID as the reference"
	case len(booked) > 1:
		return fmt.Sprintf("has %d bookings at the desk", len(booked))
	case booked[0].Ship != m.Spec.Ship || booked[0].Metres != m.Spec.Metres:
		return fmt.Sprintf("is for %s with %d metres, but the desk has %s with %d", m.Spec.Ship, m.Spec.Metres, booked[0].Ship, booked[0].Metres)
	case m.Status.Number != booked[0].Number || m.Status.Berth != booked[0].Berth:
		return fmt.Sprintf("has booking %s, berth %s, but its status says %q, %q", booked[0].Number, booked[0].Berth, m.Status.Number, m.Status.Berth)
	case ready.Status != metav1.ConditionTrue:
		return fmt.Sprintf("has what it wants, but its condition Ready is %q", ready.Status)
	case m.Status.ObservedGeneration != m.Generation || ready.ObservedGeneration != m.Generation:
		return fmt.Sprintf("has generation %d, but status.observedGeneration is %d, and that of Ready is %d", m.Generation, m.Status.ObservedGeneration, ready.ObservedGeneration)
	}
	return ""
}

// notReady waits until a Mooring says that it has not what its spec says, and why.
func (e *env) notReady(name, why string) (message string) {
	e.Helper()
	e.eventually(func() string {
		m := e.get(name)
		if m == nil {
			return fmt.Sprintf("Mooring %s is gone, although %s", name, why)
		}
		ready := m.readiness()
		message = ready.Message
		if ready.Status != metav1.ConditionFalse || ready.ObservedGeneration != m.Generation || ready.Reason == "" || message == "" {
			return fmt.Sprintf("%s, but the condition Ready of Mooring %s is %q, of generation %d, with reason %q and message %q", why, name, ready.Status, ready.ObservedGeneration, ready.Reason, message)
		}
		return ""
	})
	return message
}

// gone waits until there is neither a Mooring nor its booking.
func (e *env) gone(name, reference string) {
	e.Helper()
	e.eventually(func() string {
		if m := e.get(name); m != nil && string(m.UID) == reference {
			return fmt.Sprintf("Mooring %s was deleted, but is still there, with the finalizers %q", name, m.Finalizers)
		}
		return ""
	})
	assert.Empty(e, e.Bookings(reference), "Mooring %s is gone, but its booking was forgotten", name)
}

// paidOnce asserts that one booking was paid for, whatever has happened.
func (e *env) paidOnce(reference string) {
	e.Helper()
	ledger := e.Ledger(reference)
	assert.Len(e, slices.DeleteFunc(slices.Clone(ledger), func(what string) bool { return what != "booked" }), 1,
		"one Mooring is one booking, but the ledger says %q%s", ledger, e.printed())
}

// live lets all that happens to a Mooring happen to one.
func (e *env) live() {
	e.Helper()
	reference := e.create("eddy", 27)
	e.ready("eddy")
	e.resize("eddy", 150)
	e.ready("eddy")
	e.delete("eddy")
	e.gone("eddy", reference)
	e.paidOnce(reference)
}

// before calls do before the desk serves a call with a method.
func (e *env) before(method string, do func(*http.Request)) {
	e.cause(func(r request) fault {
		if r.to != "desk" || r.verb != method {
			return nil
		}
		return func(w http.ResponseWriter, r *http.Request, serve http.Handler) {
			do(r)
			serve.ServeHTTP(w, r)
		}
	})
}

// isDown is for cause: the desk is down.
func isDown(r request) fault {
	if r.to == "desk" {
		return breaks
	}
	return nil
}

// slows is a fault: the answer takes a second.
func slows(w http.ResponseWriter, r *http.Request, serve http.Handler) {
	<-time.After(time.Second) // luck: an answer that takes longer is as good
	serve.ServeHTTP(w, r)
}

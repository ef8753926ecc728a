package main_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/hacking-a-controller/05-crd-operator/moorings/office/desk"
	"example.com/hacking-a-controller/testcluster"
)

// env is a namespace, a desk, and the program that has to keep both in step. What the judge does there itself doesn't
// go through the wire.
type env struct {
	*testing.T
	*desk.Desk
	*wire
	cluster      *testcluster.Cluster
	space        string // the namespace
	moorings     dynamic.ResourceInterface
	dir          string   // has the kubeconfig and the file with the desk's token
	secrets      []string // all tokens
	checkSeconds int
	maxLooks     int // how often the program may look at the desk before something has to be so

	program atomic.Pointer[program] // the one that was started last
	starts  int
	output  testcluster.Output // of all programs
}

// newEnv returns an env. From now on the test runs beside the others.
func newEnv(t *testing.T) *env {
	t.Helper()
	t.Parallel()
	c := testcluster.Shared(t)
	install.Do(func() {
		_, errInstalling = envtest.InstallCRDs(c.Config, envtest.CRDInstallOptions{Paths: []string{"crd.yaml"}, ErrorIfPathMissing: true, MaxTime: testcluster.TestTimeout})
	})
	require.NoError(t, errInstalling, "the API server refuses moorings/crd.yaml")
	namespace, err := c.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "harbour-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	client, err := dynamic.NewForConfig(c.Config)
	require.NoError(t, err)
	moorings := schema.GroupVersionResource{Group: "harbour.example.com", Version: "v1alpha1", Resource: "moorings"}
	e := &env{
		T: t, Desk: desk.New(clock.RealClock{}, ""), cluster: c, space: namespace.Name, moorings: client.Resource(moorings).Namespace(namespace.Name),
		dir: t.TempDir(), secrets: []string{"server-" + rand.String(10)}, checkSeconds: 1, maxLooks: 8,
	}
	e.rotate()()
	e.wire = newWire(t, e.Desk, c.Config, e.secrets[0], func(path string) bool {
		return strings.Contains(path, "/namespaces/"+e.space+"/") || !strings.Contains(path, "/namespaces/") && !strings.HasSuffix(path, "/moorings")
	})
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: e.server.Certificate().Raw})
	content := fmt.Sprintf(kubeconfig, e.server.URL, base64.StdEncoding.EncodeToString(authority), e.secrets[0])
	require.NoError(t, os.WriteFile(filepath.Join(e.dir, "kubeconfig"), []byte(content), 0o600))
	return e
}

// newBooked returns an env in which the program has booked a berth for a Mooring named eddy, and the reference of that.
func newBooked(t *testing.T) (e *env, reference string) {
	t.Helper()
	e = newEnv(t)
	e.start()
	reference = e.create("eddy", 27)
	e.isReady("eddy")
	return e, reference
}

// The CRD of the learner is created once, for all tests.
var (
	install       sync.Once
	errInstalling error
)

// rotate makes the desk want another token. The returned function puts that into the file as the kubelet does: at no
// time is it half written.
func (e *env) rotate() (deliver func()) {
	token, file := "anchor-"+rand.String(10), filepath.Join(e.dir, "token")
	e.secrets = append(e.secrets, token)
	e.Rotate(token)
	return func() {
		e.Helper()
		require.NoError(e, os.WriteFile(file+".new", []byte(token+"\n"), 0o600))
		require.NoError(e, os.Rename(file+".new", file))
	}
}

// kubeconfig is in JSON, which is YAML, too: a program needs no library to read it.
const kubeconfig = `{"apiVersion": "v1", "kind": "Config", "current-context": "judge",
	"clusters": [{"name": "judge", "cluster": {"server": %q, "certificate-authority-data": %q}}],
	"users": [{"name": "judge", "user": {"token": %q}}],
	"contexts": [{"name": "judge", "context": {"cluster": "judge", "user": "judge"}}]}`

// program is a process.
type program struct {
	*exec.Cmd
	ended  chan struct{} // closed when it has ended
	killed atomic.Bool   // by the judge, so another one is started
	began  int           // how many requests there were before
}

// start starts the program, and waits until it reads the Moorings.
func (e *env) start() {
	e.Helper()
	executable, err := os.Executable() // with DESK_URL in its environment it's the program: see TestMain
	require.NoError(e, err)
	if other := os.Getenv("PROGRAM"); other != "" {
		executable = other
	}
	p := &program{Cmd: exec.Command(executable), ended: make(chan struct{}), began: len(e.since(0))}
	p.Dir = e.dir
	p.Env = []string{
		"PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + filepath.Join(e.dir, "kubeconfig"), "WATCH_NAMESPACE=" + e.space,
		"DESK_URL=" + e.office.URL, "DESK_TOKEN_FILE=" + filepath.Join(e.dir, "token"), fmt.Sprint("CHECK_SECONDS=", e.checkSeconds),
	}
	p.Stdout, p.Stderr = &e.output, &e.output
	p.WaitDelay = testcluster.TestTimeout // in case a child process still holds the pipe
	require.NoError(e, p.Start(), "PROGRAM has to be the absolute path of an executable file")
	e.program.Store(p)
	go func() {
		_ = p.Wait() // ProcessState says how it ended
		close(p.ended)
	}()
	e.Cleanup(p.kill)
	e.starts++
	require.Less(e, e.starts, 40, "it writes again and again, although each write was made%s", e.printed())
	e.eventually(func() string {
		return unless(len(e.since(p.began, request.isRead)) > 0, "the program runs, but does not read the Moorings of the API server that KUBECONFIG names")
	})
}

// kill ends it with SIGKILL.
func (p *program) kill() {
	p.killed.Store(true)
	_ = p.Process.Kill() // fails if it has ended already
	<-p.ended
}

// killsBefore is a fault: the program dies, and nothing is done.
func (e *env) killsBefore(http.ResponseWriter, *http.Request, http.Handler) {
	e.program.Load().kill()
	panic(http.ErrAbortHandler)
}

// killsAfter is a fault: it's done, and the program dies before it knows.
func (e *env) killsAfter(w http.ResponseWriter, r *http.Request, serve http.Handler) {
	serve.ServeHTTP(httptest.NewRecorder(), r)
	e.killsBefore(w, r, serve)
}

// stop sends a signal, after which the program has to end with exit code 0.
func (e *env) stop(signal syscall.Signal) {
	e.Helper()
	p := e.program.Load()
	require.NoError(e, p.Process.Signal(signal))
	select {
	case <-p.ended:
		require.True(e, p.ProcessState.Success(), "the program did not end with exit code 0 at signal %d (%[1]v), but with %v%s", signal, p.ProcessState, e.printed())
	case <-time.After(testcluster.TestTimeout):
		require.FailNow(e, fmt.Sprintf("the program still runs %s after signal %d (%[2]v)%s", testcluster.TestTimeout, signal, e.printed()))
	}
}

// printed is for a message: what the program has written at last, and what it has printed.
func (e *env) printed() string {
	writes, lines := e.since(0, request.isWrite), e.output.Lines()
	return fmt.Sprintf("; its last writes: %v; it printed:\n%s", writes[max(0, len(writes)-5):], strings.Join(lines[max(0, len(lines)-10):], "\n"))
}

// eventually waits until there is no problem. It gives up when the program has looked at the desk so often that it
// must have seen it, or has sent no request for 70 checks: 7 seconds, and more on a busy machine. Only its first request
// may take longer.
func (e *env) eventually(problem func() string) {
	e.Helper()
	checks := time.NewTicker(100 * time.Millisecond)
	defer checks.Stop()
	began := len(e.since(0))
	requests, quiet := began, 0
	for deadline := time.Now().Add(testcluster.TestTimeout); ; <-checks.C { // each program has that long
		missing := problem()
		if missing == "" {
			return
		}
		p := e.program.Load()
		select {
		case <-p.ended:
			if p.killed.Load() {
				e.start()
				deadline = time.Now().Add(testcluster.TestTimeout)
				continue
			}
			require.FailNow(e, fmt.Sprintf("the program ended by itself (%v), but it has to run until it is stopped%s", p.ProcessState, e.printed()))
		default:
		}
		if n := len(e.since(0)); n != requests || n == p.began {
			requests, quiet = n, 0
		}
		if quiet++; quiet > 70 || len(e.since(began, request.isLook)) > e.maxLooks || time.Now().After(deadline) {
			require.FailNow(e, missing+e.printed())
		}
	}
}

// unless returns a problem, unless all is well.
func unless(well bool, problem string, about ...any) string {
	if well {
		return ""
	}
	return fmt.Sprintf(problem, about...)
}

// during returns what the program has sent in two seconds. They are longer on a busy machine.
func (e *env) during() (requests []request, seconds float64) {
	began, start := len(e.since(0)), time.Now()
	<-time.After(2 * time.Second) // luck: nothing may happen, and a longer pause allows more
	return e.since(began), time.Since(start).Seconds()
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

// ready returns the condition Ready; of a Mooring that has none it's empty.
func (m *mooring) ready() (ready metav1.Condition) {
	if found := meta.FindStatusCondition(m.Status.Conditions, "Ready"); found != nil {
		ready = *found
	}
	return ready
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
func (e *env) patch(name, patch string, subresources ...string) error {
	_, err := e.moorings.Patch(e.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}, subresources...)
	return err
}

func (e *env) resize(name string, metres int) {
	e.Helper()
	require.NoError(e, e.patch(name, fmt.Sprintf(`{"spec": {"metres": %d}}`, metres)))
}

func (e *env) delete(name string) {
	e.Helper()
	require.NoError(e, e.moorings.Delete(e.Context(), name, metav1.DeleteOptions{}))
}

// until waits until a Mooring has no problem.
func (e *env) until(name string, problem func(m *mooring) string) {
	e.Helper()
	e.eventually(func() string {
		m := e.get(name)
		if m == nil {
			return "Mooring " + name + " is gone"
		}
		return problem(m)
	})
}

// isReady waits until a Mooring has what its spec says, at the desk and in its status.
func (e *env) isReady(name string) {
	e.Helper()
	e.until(name, func(m *mooring) string {
		found := e.Bookings(string(m.UID))
		if len(found) != 1 {
			return fmt.Sprintf("Mooring %s has %d bookings at the desk with its UID as the reference", name, len(found))
		}
		switch has := found[0]; {
		case has.Ship != m.Spec.Ship || has.Metres != m.Spec.Metres:
			return fmt.Sprintf("Mooring %s is for %s with %d metres, but the desk has %s with %d", name, m.Spec.Ship, m.Spec.Metres, has.Ship, has.Metres)
		case m.Status.Number != has.Number || m.Status.Berth != has.Berth:
			return fmt.Sprintf("Mooring %s has booking %s, berth %s, but its status says %q, %q", name, has.Number, has.Berth, m.Status.Number, m.Status.Berth)
		case m.ready().Status != metav1.ConditionTrue:
			return fmt.Sprintf("Mooring %s has what it wants, but its condition Ready is %q", name, m.ready().Status)
		}
		return unless(m.Status.ObservedGeneration == m.Generation && m.ready().ObservedGeneration == m.Generation,
			"Mooring %s has generation %d, but status.observedGeneration is %d, and that of Ready is %d", name, m.Generation, m.Status.ObservedGeneration, m.ready().ObservedGeneration)
	})
}

// isNotReady waits until a Mooring says that it doesn't have what its spec says, and why.
func (e *env) isNotReady(name, why string) (message string) {
	e.Helper()
	e.until(name, func(m *mooring) string {
		ready := m.ready()
		message = ready.Message
		return unless(ready.Status == metav1.ConditionFalse && ready.ObservedGeneration == m.Generation && ready.Reason != "" && message != "",
			"%s, but the condition Ready of Mooring %s is %q, of generation %d, with reason %q and message %q", why, name, ready.Status, ready.ObservedGeneration, ready.Reason, message)
	})
	return message
}

// isGone waits until there is neither a Mooring nor its booking.
func (e *env) isGone(name, reference string) {
	e.Helper()
	e.eventually(func() string {
		m := e.get(name)
		return unless(m == nil || string(m.UID) != reference, "Mooring %s was deleted, but is still there", name)
	})
	assert.Empty(e, e.Bookings(reference), "Mooring %s is gone, but its booking was forgotten", name)
}

// isPaidOnce wants one booking to be paid for, whatever has happened.
func (e *env) isPaidOnce(reference string) {
	e.Helper()
	ledger := strings.Join(e.Ledger(reference), ", ")
	assert.Equal(e, 1, strings.Count(ledger, "booked"), "one Mooring is one booking, but the ledger says %q%s", ledger, e.printed())
}

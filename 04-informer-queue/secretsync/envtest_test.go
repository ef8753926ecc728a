package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) {
	if os.Getenv("AS_PROGRAM") != "" {
		main()
		os.Exit(0)
	}
	testcluster.Main(m)
}

// day is what happens in the namespaces source, harbour and coast, and what it changes there. Whatever goes wrong on
// the way, each step has to end like this.
var day = []struct {
	what    string
	happens func(*env)
	changes map[string]string
	writes  int // of secretsync
}{
	{"a source and a target", func(e *env) {
		e.create("coast/own", "flotsam, mine")
		e.create("source/db", "flotsam")
		e.annotate("source/db", `""`)
		e.annotate("harbour", `""`)
	}, map[string]string{"coast/own": "flotsam, mine, foreign", "harbour/db": "flotsam"}, 1},
	{"a second target", func(e *env) { e.annotate("coast", `""`) },
		map[string]string{"coast/db": "flotsam"}, 1},
	{"the source changes", func(e *env) { e.patch("source/db", `{"stringData":{"key":"flotsam 2"}}`) },
		map[string]string{"harbour/db": "flotsam 2", "coast/db": "flotsam 2"}, 2},
	{"a copy is labelled and forged: the label remains", func(e *env) {
		e.patch("harbour/db", `{"metadata":{"labels":{"team":"divers"}},"stringData":{"key":"flotsam, forged"}}`)
	}, map[string]string{"harbour/db": "flotsam 2, of divers"}, 1},
	{"a copy is deleted: it comes back", func(e *env) { e.delete("coast/db") }, nil, 1},
	{"a copy is forged and can't be changed: it is deleted, and made again", func(e *env) {
		e.patch("coast/db", `{"immutable":true,"stringData":{"key":"flotsam, forged"}}`)
	}, nil, 2},
	{"nothing that matters changes", func(e *env) {
		e.patch("source/db", `{"metadata":{"labels":{"touched":"yes"}}}`)
		e.annotate("harbour", `"touched"`)
	}, nil, 0},
	{"a foreign secret is in the way of a copy", func(e *env) {
		e.create("harbour/mail", "flotsam, mine")
		e.create("source/mail", "flotsam 3")
		e.annotate("source/mail", `""`)
	}, map[string]string{"harbour/mail": "flotsam, mine, foreign", "event harbour/mail": "NameCollision", "coast/mail": "flotsam 3"}, 2},
	{"a namespace is no longer a target", func(e *env) { e.annotate("coast", "null") },
		map[string]string{"coast/db": "", "coast/mail": ""}, 2},
	{"the foreign secret goes, which only a resync finds", func(e *env) { e.delete("harbour/mail") },
		map[string]string{"harbour/mail": "flotsam 3"}, 1},
	{"a source is deleted, and one is no longer a source", func(e *env) { e.delete("source/db"); e.annotate("source/mail", "null") },
		map[string]string{"harbour/db": "", "harbour/mail": ""}, 2},
}

func writesOfADay() (writes int) {
	for _, step := range day {
		writes += step.writes
	}
	return writes
}

// lives goes through a day, and has the function make each change.
func (e *env) lives(around func(change func())) {
	want := map[string]string{}
	for _, step := range day {
		around(func() { step.happens(e) })
		maps.Copy(want, step.changes)
		maps.DeleteFunc(want, func(_, words string) bool { return words == "" })
		e.becomes(step.what, want)
	}
	events, err := e.client.EventsV1().Events(e.name+"-harbour").List(e.Context(), metav1.ListOptions{})
	require.NoError(e, err)
	for _, data := range []string{"flotsam", "ZmxvdHNhb", "102 108 111 116"} { // plain, in base64, as bytes
		assert.NotContains(e, e.printed.String()+events.String(), data, "no data is printed, logged or put into an event")
	}
}

func undisturbed(change func()) { change() }

// The account of rbac.yaml may do what the program does, and no more.
func TestRBAC(t *testing.T) {
	e := newEnv(t)
	manifest, err := os.Open("rbac.yaml")
	require.NoError(t, err)
	defer manifest.Close()
	kubectl := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), "--kubeconfig", testcluster.Shared(t).Kubeconfig, "apply", "-f", "-")
	kubectl.Stdin = manifest
	output, err := kubectl.CombinedOutput()
	require.NoError(t, err, string(output))
	role, err := e.client.RbacV1().ClusterRoles().Get(t.Context(), "secretsync", metav1.GetOptions{})
	require.NoError(t, err)
	e.config.Impersonate.UserName = "system:serviceaccount:secretsync:secretsync"
	account := kubernetes.NewForConfigOrDie(e.config)
	require.Eventually(t, func() bool { // the authorizer hears of a role a moment later
		_, err := account.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{Limit: 1})
		return err == nil
	}, testcluster.TestTimeout, 20*time.Millisecond)

	stop := e.start()
	e.lives(undisturbed)
	stop()
	assert.NotContains(t, e.printed.String(), "trying again later", "no right is missing")
	var may, did []string
	for _, rule := range role.Rules {
		for _, verb := range rule.Verbs {
			may = append(may, verb+" "+rule.Resources[0])
		}
	}
	for verb := range e.verbs.Range {
		did = append(did, verb.(string))
	}
	assert.ElementsMatch(t, may, did, "no right is superfluous")
	accepted := slices.DeleteFunc(e.answers.Lines(), func(answer string) bool { return !strings.Contains(answer, " 2") })
	assert.Len(t, accepted, writesOfADay(), "each write has a reason")
}

func TestAgainstARealServer(t *testing.T) {
	for name, trouble := range map[string]func(e *env) (around func(change func())){
		"the connection is cut before each change": func(e *env) func(change func()) {
			proxy, through := testcluster.StartProxy(e.T, e.config)
			e.config = through
			e.start()
			require.Eventually(e, func() bool { _, sent := e.verbs.Load("watch secrets"); return sent }, testcluster.TestTimeout, 20*time.Millisecond) // a start without a connection is an error
			return func(change func()) { proxy.Cut(); change() }
		},
		"it is down during each change": func(e *env) func(change func()) {
			stop := e.start()
			return func(change func()) { stop(); change(); stop = e.start() }
		},
		"there are two, as during an update of a Deployment": func(e *env) func(change func()) {
			e.start()
			e.start()
			return undisturbed
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.lives(trouble(e))
			if strings.Contains(name, "two") {
				assert.NotRegexp(t, "cannot be fulfilled|not found", e.printed.String(), "to be second is not a failure")
				creates := slices.DeleteFunc(e.answers.Lines(), func(answer string) bool { return answer != "POST 201" })
				assert.LessOrEqual(t, len(creates), 7, "six copies and an event: none is made twice")
			}
		})
	}
}

// Each write of a day reaches the server once, and the program dies before the answer arrives. A new one takes over.
func TestACrashAfterEveryWrite(t *testing.T) {
	for n := 1; n <= writesOfADay(); n++ {
		t.Run(fmt.Sprintf("after write %d", n), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.start(crash(n, func() { e.start() }))
			e.lives(undisturbed)
			require.Eventually(t, func() bool { return strings.Contains(e.printed.String(), errCrashed.Error()) }, testcluster.TestTimeout, 20*time.Millisecond)
		})
	}
}

var errCrashed = errors.New("the program has crashed")

// fault is in how a program reaches the server: it may pass a request on to next.
type fault = func(request *http.Request, next http.RoundTripper) (*http.Response, error)

// crash calls the function after so many accepted writes. From then on nothing that the program writes arrives; its
// caches do no harm.
func crash(after int, crashed func()) fault {
	var mu sync.Mutex // one write at a time
	return func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == http.MethodGet {
			return next.RoundTrip(request)
		}
		mu.Lock()
		defer mu.Unlock()
		if after == 0 {
			return nil, errCrashed
		}
		response, err := next.RoundTrip(request)
		if err == nil && response.StatusCode < 300 {
			after--
		}
		if after > 0 {
			return response, err
		}
		response.Body.Close()
		crashed()
		return nil, errCrashed
	}
}

// TestFaults has somebody else write between the program's read and its write.
func TestFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(*env)
		method  string     // before the first such request,
		meddle  func(*env) // this happens
		answers []string
		want    map[string]string
	}{
		"a copy changes just before it is updated": {
			func(e *env) { e.patch("source/db", `{"stringData":{"key":"ebb"}}`) },
			http.MethodPut, func(e *env) { e.patch("harbour/db", `{"metadata":{"labels":{"team":"divers"}}}`) },
			[]string{"POST 201", "PUT 409", "PUT 200"}, map[string]string{"harbour/db": "ebb, of divers"}},
		"a copy is deleted just before it is updated": {
			func(e *env) { e.patch("source/db", `{"stringData":{"key":"ebb"}}`) },
			http.MethodPut, func(e *env) { e.delete("harbour/db") },
			[]string{"POST 201", "PUT 404", "POST 201"}, map[string]string{"harbour/db": "ebb"}},
		"a copy is given up just before it is deleted": {
			func(e *env) { e.delete("source/db") },
			http.MethodDelete, func(e *env) { e.patch("harbour/db", `{"metadata":{"labels":null}}`) },
			[]string{"POST 201", "DELETE 409"}, map[string]string{"harbour/db": "tide, foreign"}},
		"a namespace begins to end just before the copy": {
			func(*env) {},
			http.MethodPost, func(e *env) {
				assert.NoError(e, e.client.CoreV1().Namespaces().Delete(e.Context(), e.name+"-harbour", metav1.DeleteOptions{}))
			},
			[]string{"POST 403"}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.options.resync = 0
			e.create("source/db", "tide")
			e.annotate("source/db", `""`)
			e.annotate("harbour", `""`)
			stop := e.start(before(tc.method, func(*http.Request) { tc.meddle(e) }))
			if tc.method != http.MethodPost {
				e.becomes("the copy", map[string]string{"harbour/db": "tide"})
			}
			tc.happens(e)
			assert.Eventually(t, func() bool { return strings.Count(e.answers.String(), "\n") >= len(tc.answers) }, testcluster.TestTimeout, 20*time.Millisecond)
			stop()
			assert.Equal(t, tc.answers, e.answers.Lines())
			e.becomes("nobody's write is lost", tc.want)
			assert.NotContains(t, e.printed.String(), "trying again later", "this is not a failure")
		})
	}
}

// before calls the function before the first request that has this method.
func before(method string, do func(*http.Request)) fault {
	var once sync.Once
	return func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == method {
			once.Do(func() { do(request) })
		}
		return next.RoundTrip(request)
	}
}

func TestAStopFinishesTheWriteThatHasBegunAndBeginsNoOther(t *testing.T) {
	e := newEnv(t)
	e.options.workers = 1
	e.annotate("harbour", `""`)
	for _, name := range []string{"db", "mail", "seal"} {
		e.create("source/"+name, "tide")
		e.annotate("source/"+name, `""`)
	}
	ctx, stop := context.WithCancel(t.Context())
	require.NoError(t, e.run(ctx, before(http.MethodPost, func(request *http.Request) {
		stop()
		_, limited := request.Context().Deadline()
		assert.True(t, limited, "and doesn't wait for it forever")
	})))
	assert.Equal(t, []string{"POST 201"}, e.answers.Lines())
}

func TestAnErrorNamesTheRightThatIsMissing(t *testing.T) {
	e := newEnv(t)
	e.config.Impersonate.UserName = "jane"
	require.ErrorContains(t, e.run(t.Context()), `secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" at the cluster scope`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.run(ctx), "to be interrupted is no error")
}

// env is a part of the shared API server: namespaces, an annotation, and a secretsync that knows no others.
type env struct {
	*testing.T
	name    string
	client  kubernetes.Interface // the administrator
	config  *rest.Config         // of the program
	options options
	printed testcluster.Output // its log, too
	answers testcluster.Output // to its writes: "POST 201"
	verbs   sync.Map           // of its requests: "get secrets"
}

var envs atomic.Int32 // a test may run several times on one API server

func newEnv(t *testing.T) *env {
	c := testcluster.Shared(t)
	name := fmt.Sprintf("env%d", envs.Add(1))
	e := &env{T: t, name: name, client: c.Client, config: rest.CopyConfig(c.Config),
		options: options{rules{name + ".example.com/secretsync", name + "-source"}, time.Second, 4}}
	for _, namespace := range []string{"-source", "-harbour", "-coast"} {
		_, err := c.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name + namespace}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	return e
}

func (e *env) create(place, value string) {
	e.Helper()
	namespace, name, _ := strings.Cut(e.name+"-"+place, "/")
	_, err := e.client.CoreV1().Secrets(namespace).Create(e.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"key": []byte(value)}}, metav1.CreateOptions{})
	require.NoError(e, err)
}

// path is that of a secret, such as harbour/db, or of a namespace, such as harbour.
func (e *env) path(place string) string {
	return "/api/v1/namespaces/" + e.name + "-" + strings.Replace(place, "/", "/secrets/", 1)
}

func (e *env) patch(place, patch string) {
	e.Helper()
	require.NoError(e, e.client.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(e.path(place)).Body([]byte(patch)).Do(e.Context()).Error())
}

func (e *env) delete(place string) {
	e.Helper()
	require.NoError(e, e.client.CoreV1().RESTClient().Delete().AbsPath(e.path(place)).Do(e.Context()).Error())
}

// annotate gives the annotation a value, in JSON; null takes it off.
func (e *env) annotate(place, value string) {
	e.Helper()
	e.patch(place, fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, e.options.rules.annotation, value))
}

// becomes waits until the secrets and events in harbour and coast are these.
func (e *env) becomes(what string, want map[string]string) {
	e.Helper()
	require.EventuallyWithT(e, func(collect *assert.CollectT) {
		got := map[string]string{}
		for _, namespace := range []string{"harbour", "coast"} {
			secrets, err := e.client.CoreV1().Secrets(e.name+"-"+namespace).List(e.Context(), metav1.ListOptions{})
			require.NoError(collect, err)
			for _, s := range secrets.Items {
				words := string(s.Data["key"])
				if team := s.Labels["team"]; team != "" {
					words += ", of " + team
				}
				if !e.options.rules.made(&s) {
					words += ", foreign"
				}
				got[namespace+"/"+s.Name] = words
			}
			events, err := e.client.EventsV1().Events(e.name+"-"+namespace).List(e.Context(), metav1.ListOptions{})
			require.NoError(collect, err)
			for _, event := range events.Items {
				got["event "+namespace+"/"+event.Regarding.Name] += event.Reason
			}
		}
		assert.Equal(collect, want, got)
	}, testcluster.TestTimeout, 20*time.Millisecond, "%s; the program printed:\n%s", what, &e.printed)
}

// start runs the program until the test ends, or the function that it returns is called.
func (e *env) start(faults ...fault) (stop func()) {
	_, stop = testcluster.Run(e, func(ctx context.Context) error { return e.run(ctx, faults...) })
	return stop
}

// run is the program, with faults in how it reaches the server.
func (e *env) run(ctx context.Context, faults ...fault) error {
	config := rest.CopyConfig(e.config)
	for _, f := range append([]fault{e.note}, faults...) {
		testcluster.Through(f)(config)
	}
	log := funcr.New(func(_, line string) { fmt.Fprintln(&e.printed, line) }, funcr.Options{Verbosity: 4})
	return run(klog.NewContext(ctx, log), config, &e.printed, e.options)
}

// note notes the requests and the answers to writes, but not that something is there already: a stale cache tries
// that again.
func (e *env) note(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	response, err := next.RoundTrip(request)
	e.verbs.Store(verb(request), true)
	if err == nil && request.Method != http.MethodGet {
		if answer := fmt.Sprintln(request.Method, response.StatusCode); answer != "POST 409\n" {
			fmt.Fprint(&e.answers, answer)
		}
	}
	return response, err
}

// verb is what RBAC calls a request: list secrets.
func verb(request *http.Request) string {
	match := resource.FindStringSubmatch(request.URL.Path)
	verb := map[string]string{http.MethodGet: "list", http.MethodPost: "create", http.MethodPut: "update", http.MethodDelete: "delete"}[request.Method]
	if request.URL.Query().Get("watch") == "true" {
		verb = "watch"
	} else if verb == "list" && match[2] != "" {
		verb = "get"
	}
	return verb + " " + match[1]
}

// resource finds it in a path, such as /api/v1/namespaces/harbour/secrets, and whether a name follows.
var resource = regexp.MustCompile(`/v1/(?:namespaces/[^/]+/)?([^/]+)(/?)`)

package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// env is a part of a cluster in which one secretsync works. It has an annotation and namespaces
// of its own, so that many fit on one API server. Its methods are what users do.
type env struct {
	*testing.T
	name     string
	config   *rest.Config
	client   kubernetes.Interface // the administrator
	options  options
	out, log testcluster.Output // what the program prints, and what it logs

	mu     sync.Mutex
	writes []string // that the server answered: "POST 201"
}

// envs is how many there were: a test may run several times on one API server.
var envs atomic.Int32

func newEnv(t *testing.T, name string) *env {
	c := testcluster.Shared(t)
	name = fmt.Sprintf("%s-%d", name, envs.Add(1)) // crash1 and 19 is not crash11 and 9
	e := &env{T: t, name: name, config: c.Config, client: c.Client,
		options: options{rules: rules{annotation: name + ".example.com/secretsync", sourceNamespace: name + "-source"}, workers: 4}}
	e.namespace("source", false)
	return e
}

func (e *env) namespace(name string, target bool) {
	e.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.name + "-" + name}}
	if target {
		n.Annotations = map[string]string{e.options.rules.annotation: ""}
	}
	_, err := e.client.CoreV1().Namespaces().Create(e.Context(), n, metav1.CreateOptions{})
	require.NoError(e, err)
	// Other envs have all copies of the cluster in their caches.
	e.Cleanup(func() {
		assert.NoError(e, e.client.CoreV1().Secrets(n.Name).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	})
}

// annotate gives the annotation a value, in JSON; null takes it off. A place is a namespace, or such as source/db.
func (e *env) annotate(place, value string) {
	e.Helper()
	e.patch(place, fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, e.options.rules.annotation, value))
}

func (e *env) set(place, value string) {
	e.Helper()
	e.patch(place, fmt.Sprintf(`{"stringData":{"key":%q}}`, value))
}

func (e *env) patch(place, patch string) {
	e.Helper()
	namespace, name, isSecret := strings.Cut(e.name+"-"+place, "/")
	var err error
	if isSecret {
		_, err = e.client.CoreV1().Secrets(namespace).Patch(e.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	} else {
		_, err = e.client.CoreV1().Namespaces().Patch(e.Context(), namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
	require.NoError(e, err)
}

func (e *env) create(place, value string, change ...func(*corev1.Secret)) {
	e.Helper()
	namespace, name, _ := strings.Cut(e.name+"-"+place, "/")
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"key": []byte(value)}}
	for _, f := range change {
		f(s)
	}
	_, err := e.client.CoreV1().Secrets(namespace).Create(e.Context(), s, metav1.CreateOptions{})
	require.NoError(e, err)
}

func (e *env) source(name, value string, change ...func(*corev1.Secret)) {
	e.Helper()
	e.create("source/"+name, value, append(change, func(s *corev1.Secret) { s.Annotations = map[string]string{e.options.rules.annotation: ""} })...)
}

func (e *env) delete(place string) {
	e.Helper()
	namespace, name, _ := strings.Cut(e.name+"-"+place, "/")
	require.NoError(e, e.client.CoreV1().Secrets(namespace).Delete(e.Context(), name, metav1.DeleteOptions{}))
}

// becomes waits until the secrets and events outside of the source namespace are these, in words.
func (e *env) becomes(want map[string]string) {
	e.Helper()
	require.EventuallyWithT(e, func(collect *assert.CollectT) {
		secrets, err := e.client.CoreV1().Secrets("").List(e.Context(), metav1.ListOptions{})
		require.NoError(collect, err)
		events, err := e.client.EventsV1().Events("").List(e.Context(), metav1.ListOptions{})
		require.NoError(collect, err)
		got, sources := map[string]string{}, map[string]types.UID{}
		for _, s := range secrets.Items {
			if s.Namespace == e.options.rules.sourceNamespace {
				sources[s.Name] = s.UID
			}
		}
		for _, s := range secrets.Items {
			if namespace, ok := strings.CutPrefix(s.Namespace, e.name+"-"); ok && namespace != "source" {
				got[namespace+"/"+s.Name] = e.words(&s, sources[s.Name])
			}
		}
		for _, event := range events.Items {
			if namespace, ok := strings.CutPrefix(event.Namespace, e.name+"-"); ok {
				got["event "+namespace+"/"+event.Regarding.Name] += event.Reason
			}
		}
		assert.Equal(collect, want, got)
	}, testcluster.TestTimeout, 20*time.Millisecond, "the program printed:\n%s", &e.out)
}

// words are the data of a secret, and what else is of interest.
func (e *env) words(s *corev1.Secret, source types.UID) string {
	words := []string{string(s.Data["key"])}
	if s.Type != corev1.SecretTypeOpaque {
		words = append(words, string(s.Type))
	}
	if immutable(s) {
		words = append(words, "immutable")
	}
	if team := s.Labels["team"]; team != "" {
		words = append(words, team)
	}
	switch {
	case !e.options.rules.made(s):
		words = append(words, "foreign")
	case source == "" || !strings.Contains(s.Annotations[e.options.rules.annotation], string(source)):
		words = append(words, "of an old source")
	}
	return strings.Join(words, " ")
}

// start runs the program, until the function that it returns or the test ends.
func (e *env) start(faults ...fault) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := e.run(ctx, faults...); !apierrors.IsForbidden(err) { // that's in the log, for TestRBAC
			assert.NoError(e, err)
		}
	}()
	stop = func() { cancel(); <-done }
	e.Cleanup(stop)
	return stop
}

// run is the program, with faults in how it reaches the server.
func (e *env) run(ctx context.Context, faults ...fault) error {
	config := rest.CopyConfig(e.config)
	for _, f := range append([]fault{e.note}, faults...) {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return f(next) })
	}
	log := funcr.New(func(_, args string) { fmt.Fprintln(&e.log, args) }, funcr.Options{Verbosity: 4})
	err := run(klog.NewContext(ctx, log), config, &e.out, e.options)
	if err != nil {
		fmt.Fprintln(&e.log, err)
	}
	return err
}

// note notes the writes. It leaves out the creates that are refused because there is something: a stale
// cache repeats them.
func (e *env) note(next http.RoundTripper) trip {
	return func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && request.Method != http.MethodGet {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.writes = append(e.writes, fmt.Sprintf("%s %d", request.Method, response.StatusCode))
		}
		return response, err
	}
}

// answers are the writes since the last call. Stop the program before, which waits for the last answer.
func (e *env) answers() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() { e.writes = nil }()
	return slices.DeleteFunc(e.writes, func(w string) bool { return w == "POST 409" })
}

// fault makes a way to the server one that misbehaves.
type fault func(next http.RoundTripper) trip

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// before calls the function before the first request that has this method and a path that ends so.
func before(method, end string, do func()) fault {
	var once sync.Once
	return func(next http.RoundTripper) trip {
		return func(request *http.Request) (*http.Response, error) {
			if request.Method == method && strings.HasSuffix(request.URL.Path, end) {
				once.Do(do)
			}
			return next.RoundTrip(request)
		}
	}
}

// and is what there is, and this as well.
func and(have map[string]string, place, words string) map[string]string {
	have = maps.Clone(have)
	have[place] = words
	return have
}

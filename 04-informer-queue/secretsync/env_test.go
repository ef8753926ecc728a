package main

import (
	"context"
	"fmt"
	"maps"
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

// env is a part of a cluster in which one secretsync works. It has an
// annotation, a source namespace and target namespaces of its own, so that many
// envs fit on one API server. Its methods are what users do.
type env struct {
	t      *testing.T
	name   string
	config *rest.Config
	client kubernetes.Interface // the administrator
	rules  rules
	out    testcluster.Output // what the program prints
	log    testcluster.Output // what it logs

	namespaces []string
}

// envs is how many there were. A test may run several times on one API server, so
// a name alone is not enough.
var envs atomic.Int32

func newEnv(t *testing.T, c *testcluster.Cluster, name string) *env {
	name = fmt.Sprintf("%s-%d", name, envs.Add(1)) // crash1 and 19 is not crash11 and 9
	s := &env{t: t, name: name, config: c.Config, client: c.Client,
		rules: rules{annotation: name + ".example.com/secretsync", sourceNamespace: name + "-source"}}
	t.Cleanup(s.clear)
	s.createNamespace("source")
	return s
}

// clear deletes all secrets of the env when its program has ended: the programs of
// other envs have all copies of the cluster in their caches.
func (s *env) clear() {
	for _, name := range s.namespaces {
		assert.NoError(s.t, s.client.CoreV1().Secrets(name).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	}
}

func (s *env) createNamespace(name string) {
	s.t.Helper()
	name = s.name + "-" + name
	_, err := s.client.CoreV1().Namespaces().Create(s.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(s.t, err)
	s.namespaces = append(s.namespaces, name)
}

// target makes a namespace that is a target.
func (s *env) target(name string) {
	s.t.Helper()
	s.createNamespace(name)
	s.annotateNamespace(name, `""`)
}

// annotateNamespace takes a JSON value; null takes the annotation off.
func (s *env) annotateNamespace(name, value string) {
	s.t.Helper()
	_, err := s.client.CoreV1().Namespaces().Patch(s.t.Context(), s.name+"-"+name, types.MergePatchType, s.annotation(value), metav1.PatchOptions{})
	require.NoError(s.t, err)
}

func (s *env) annotation(value string) []byte {
	return fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, s.rules.annotation, value)
}

// create makes a secret at a place such as source/db.
func (s *env) create(place, value string, change ...func(*corev1.Secret)) *corev1.Secret {
	s.t.Helper()
	created := &corev1.Secret{ObjectMeta: s.at(place), Data: map[string][]byte{"key": []byte(value)}}
	for _, f := range change {
		f(created)
	}
	created, err := s.client.CoreV1().Secrets(created.Namespace).Create(s.t.Context(), created, metav1.CreateOptions{})
	require.NoError(s.t, err)
	return created
}

// source makes a secret that is a source.
func (s *env) source(name, value string, change ...func(*corev1.Secret)) {
	s.t.Helper()
	annotated := func(o *corev1.Secret) { o.Annotations = map[string]string{s.rules.annotation: ""} }
	s.create("source/"+name, value, slices.Insert(change, 0, annotated)...)
}

func (s *env) at(place string) metav1.ObjectMeta {
	namespace, name, _ := strings.Cut(place, "/")
	return metav1.ObjectMeta{Namespace: s.name + "-" + namespace, Name: name}
}

func (s *env) set(place, value string) {
	s.t.Helper()
	s.patch(place, fmt.Sprintf(`{"stringData":{"key":%q}}`, value))
}

func (s *env) patch(place, patch string) {
	s.t.Helper()
	at := s.at(place)
	_, err := s.client.CoreV1().Secrets(at.Namespace).Patch(s.t.Context(), at.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(s.t, err)
}

func (s *env) delete(place string) {
	s.t.Helper()
	at := s.at(place)
	require.NoError(s.t, s.client.CoreV1().Secrets(at.Namespace).Delete(s.t.Context(), at.Name, metav1.DeleteOptions{}))
}

func (s *env) get(place string) *corev1.Secret {
	s.t.Helper()
	at := s.at(place)
	got, err := s.client.CoreV1().Secrets(at.Namespace).Get(s.t.Context(), at.Name, metav1.GetOptions{})
	require.NoError(s.t, err)
	return got
}

// state is every secret of the env outside of the source namespace, in words.
func (s *env) state(ctx context.Context) (map[string]string, error) {
	all, err := s.client.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	uids := map[string]types.UID{}
	for _, o := range all.Items {
		if o.Namespace == s.rules.sourceNamespace {
			uids[o.Name] = o.UID
		}
	}
	state := map[string]string{}
	for _, o := range all.Items {
		namespace, ok := strings.CutPrefix(o.Namespace, s.name+"-")
		if ok && namespace != "source" {
			state[namespace+"/"+o.Name] = s.words(&o, uids[o.Name])
		}
	}
	return state, nil
}

// words are the data of a secret, and what else is of interest.
func (s *env) words(o *corev1.Secret, source types.UID) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(o.Data)) {
		words = append(words, key+"="+string(o.Data[key]))
	}
	if o.Type != corev1.SecretTypeOpaque {
		words = append(words, string(o.Type))
	}
	if o.Immutable != nil && *o.Immutable {
		words = append(words, "immutable")
	}
	if o.DeletionTimestamp != nil {
		words = append(words, "deleting")
	}
	switch {
	case !s.rules.made(o):
		words = append(words, "foreign")
	case !strings.Contains(o.Annotations[s.rules.annotation], string(source)) || source == "":
		words = append(words, "of an old source")
	}
	return strings.Join(words, " ")
}

// becomes waits until the state is the one that is wanted.
func (s *env) becomes(want map[string]string) {
	s.t.Helper()
	var got map[string]string
	reached := assert.Eventually(s.t, func() bool {
		ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
		defer cancel()
		state, err := s.state(ctx)
		if err == nil {
			got = state
		}
		return err == nil && maps.Equal(want, state)
	}, testcluster.TestTimeout, 20*time.Millisecond)
	if !reached {
		require.Equal(s.t, want, got, "the program printed:\n%s", s.out.String())
	}
}

// start runs the program, until the function that it returns or the test ends.
func (s *env) start(change ...func(*rest.Config)) (stop func()) {
	return s.startWith(4, 0, change...)
}

func (s *env) startWith(workers int, resync time.Duration, change ...func(*rest.Config)) (stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.run(ctx, workers, resync, change...) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(s.t, <-done)
	})
	s.t.Cleanup(stop)
	return stop
}

// run is the program, with changes of how it reaches the server.
func (s *env) run(ctx context.Context, workers int, resync time.Duration, change ...func(*rest.Config)) error {
	config := rest.CopyConfig(s.config)
	for _, f := range change {
		f(config)
	}
	log := funcr.New(func(_, args string) { fmt.Fprintln(&s.log, args) }, funcr.Options{Verbosity: 4})
	return run(klog.NewContext(ctx, log), config, &s.out, options{s.rules, resync, workers})
}

package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// env is a namespace, and what users do in it. Many fit on one API server: the operator of an env
// watches its namespace only.
type env struct {
	t         testing.TB
	admin     client.Client
	namespace string
	config    *rest.Config // of the operator: a user who may do what the shipped role allows
	log       logr.Logger
	workers   int
}

var (
	envs     atomic.Int32 // how many were made
	operator *rest.Config // the same user for all
)

// newEnv makes one. When the test is over and its operator has ended, no layer is left behind: there
// are operators that watch all namespaces.
func newEnv(t testing.TB) *env {
	t.Helper()
	c := testcluster.Shared(t)
	if operator == nil {
		c.InstallCRDs(t, testcluster.ReadCRDs(t, "../config/crd")...)
		operator = c.User(t, "operator", testcluster.Rules(t, "../config/rbac/settings.yaml"))
		operator.QPS = -1
	}
	types := runtime.NewScheme()
	require.NoError(t, errors.Join(scheme.AddToScheme(types), v1alpha1.AddToScheme(types)))
	admin, err := client.New(c.Config, client.Options{Scheme: types})
	require.NoError(t, err)
	s := &env{t: t, admin: admin, namespace: fmt.Sprintf("env-%d", envs.Add(1)), config: operator, log: logr.Discard(), workers: 1}
	require.NoError(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}))
	t.Cleanup(func() {
		assert.NoError(t, admin.DeleteAllOf(context.Background(), &v1alpha1.SettingsLayer{}, client.InNamespace(s.namespace)))
	})
	return s
}

// inEnvs runs each case in an env of its own. They run all at once, even on two processors: when the
// operator does not see what others do, each of them waits in vain.
func inEnvs(t *testing.T, cases map[string]func(*env)) {
	var running sync.WaitGroup
	defer running.Wait()
	newEnv(t) // the first starts the server, and the others share it
	for name, run := range cases {
		running.Go(func() {
			t.Run(name, func(t *testing.T) { run(newEnv(t)) })
		})
	}
}

// start runs the operator, until the function that it returns or the test ends.
func (s *env) start(change ...func(*rest.Config)) (stop func()) {
	s.t.Helper()
	config := rest.CopyConfig(s.config)
	for _, f := range change {
		f(config)
	}
	log, o := s.log, Options{Namespace: s.namespace, Workers: s.workers, SkipNameValidation: true}
	_, stop = testcluster.Run(s.t, func(ctx context.Context) error { return Run(klog.NewContext(ctx, log), config, o) })
	return stop
}

// logged makes the next operator log into what it returns.
func (s *env) logged() *testcluster.Output {
	output := &testcluster.Output{}
	s.log = funcr.New(func(prefix, args string) { fmt.Fprintln(output, prefix, args) }, funcr.Options{Verbosity: 5})
	return output
}

// data is what a layer has.
type data map[string]string

func text(length int) string { return strings.Repeat("x", length) }

func (s *env) layer(name string, priority int32, d data) {
	s.t.Helper()
	require.NoError(s.t, s.admin.Create(s.t.Context(), &v1alpha1.SettingsLayer{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       v1alpha1.SettingsLayerSpec{Priority: priority, Data: d},
	}))
}

// patchLayer changes a layer with a merge patch.
func (s *env) patchLayer(name, patch string) {
	s.t.Helper()
	layer := &v1alpha1.SettingsLayer{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	require.NoError(s.t, s.admin.Patch(s.t.Context(), layer, client.RawPatch(types.MergePatchType, []byte(patch))))
}

func (s *env) deleteLayer(name string) {
	s.t.Helper()
	require.NoError(s.t, s.admin.Delete(s.t.Context(), &v1alpha1.SettingsLayer{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}))
}

func (s *env) settings() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "settings"}}
}

// create makes a ConfigMap of the operator's name, as somebody else.
func (s *env) create(d data) error {
	made := s.settings()
	made.Data = d
	return s.admin.Create(s.t.Context(), made)
}

// edit changes the ConfigMap with a merge patch, as somebody else.
func (s *env) edit(patch string) {
	s.t.Helper()
	require.NoError(s.t, s.admin.Patch(s.t.Context(), s.settings(), client.RawPatch(types.MergePatchType, []byte(patch))))
}

func (s *env) delete() {
	s.t.Helper()
	require.NoError(s.t, s.admin.Delete(s.t.Context(), s.settings()))
}

func (s *env) get() *corev1.ConfigMap {
	s.t.Helper()
	have := s.settings()
	require.NoError(s.t, s.admin.Get(s.t.Context(), client.ObjectKeyFromObject(have), have))
	return have
}

func (s *env) eventually(condition func() bool, message ...any) {
	s.t.Helper()
	require.Eventually(s.t, condition, testcluster.TestTimeout, 20*time.Millisecond, message...)
}

// state is the ConfigMap and all layers, in words.
type state map[string]string

func (s *env) state(ctx context.Context) (state, error) {
	state, have := state{}, s.settings()
	err := s.admin.Get(ctx, client.ObjectKeyFromObject(have), have)
	if err == nil {
		state["settings"] = configMapInWords(have)
	}
	var layers v1alpha1.SettingsLayerList
	err = errors.Join(client.IgnoreNotFound(err), s.admin.List(ctx, &layers, client.InNamespace(s.namespace)))
	for _, layer := range layers.Items {
		state[layer.Name] = layerInWords(&layer)
	}
	return state, err
}

// configMapInWords is data such as "colour=blue; of defaults, site".
func configMapInWords(o *corev1.ConfigMap) string {
	var words, owners []string
	for _, key := range slices.Sorted(maps.Keys(o.Data)) {
		words = append(words, key+"="+o.Data[key])
	}
	for key, value := range o.BinaryData {
		words = append(words, fmt.Sprintf("%s in binary: %x", key, value))
	}
	line := strings.Join(words, " ")
	if o.Labels[managedBy] != program {
		line += "; not labelled"
	}
	if o.Immutable != nil {
		line += "; immutable"
	}
	if o.DeletionTimestamp != nil {
		line += "; going"
	}
	for _, owner := range o.OwnerReferences {
		owners = append(owners, owner.Name)
	}
	return line + "; of " + strings.Join(slices.Sorted(slices.Values(owners)), ", ")
}

// layerInWords is a status such as "True Merged 1", with the generation, or
// "True PartlyOverridden 1, colour by site".
func layerInWords(layer *v1alpha1.SettingsLayer) string {
	condition := meta.FindStatusCondition(layer.Status.Conditions, v1alpha1.InEffect)
	if condition == nil {
		return "no status"
	}
	line := fmt.Sprintf("%s %s %d", condition.Status, condition.Reason, layer.Status.ObservedGeneration)
	if condition.ObservedGeneration != layer.Generation {
		line += ", out of date"
	}
	for _, o := range layer.Status.Overridden {
		line += fmt.Sprintf(", %s by %s", o.Key, o.By)
	}
	return line
}

// becomes waits until the state is the one that is wanted.
func (s *env) becomes(want state) { s.t.Helper(); s.waits(want, "it does not come to this") }

// restores waits until what others did is undone.
func (s *env) restores(want state) { s.t.Helper(); s.waits(want, "what others did is not undone") }

func (s *env) waits(want state, otherwise string) {
	s.t.Helper()
	require.EventuallyWithT(s.t, func(c *assert.CollectT) {
		ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
		defer cancel()
		got, err := s.state(ctx)
		require.NoError(c, err)
		assert.Equal(c, want, got)
	}, testcluster.TestTimeout, 20*time.Millisecond, otherwise)
}

// recorded waits for these events, each of them once, and no others.
func (s *env) recorded(want ...string) {
	s.t.Helper()
	require.EventuallyWithT(s.t, func(c *assert.CollectT) {
		var list eventsv1.EventList
		require.NoError(c, s.admin.List(s.t.Context(), &list, client.InNamespace(s.namespace)))
		var all []string
		for _, e := range list.Items {
			assert.Nil(c, e.Series, "it was recorded again")
			all = append(all, fmt.Sprintf("%s %s %s: %s", e.Regarding.Name, e.Type, e.Reason, e.Note))
		}
		assert.ElementsMatch(c, want, all)
	}, testcluster.TestTimeout, 20*time.Millisecond)
}

// ledger records the requests about the ConfigMap and the layers, but for those that fill the caches, and
// how the server answered: "PATCH 200 configmaps/settings" or "PUT 200 settingslayers/site/status".
type ledger struct{ testcluster.Output }

func (l *ledger) watch(config *rest.Config) {
	testcluster.Through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if what := about(request); err == nil && what != "" {
			// It is noted when all of the answer is here: a test that has seen it may stop the
			// operator, and an answer that is cut off would be an error.
			if _, err := readWhole(response); err != nil {
				return nil, err
			}
			fmt.Fprintln(&l.Output, request.Method, response.StatusCode, what)
		}
		return response, err
	})(config)
}

// ofConfigMap are the requests since the last Take that are about the ConfigMap, and that the
// server has answered with this code.
func (l *ledger) ofConfigMap(code string) []string {
	return slices.DeleteFunc(l.Lines(), func(r string) bool {
		return !strings.HasSuffix(r, " configmaps/settings") || !strings.Contains(r, " "+code)
	})
}

// readWhole reads the body of a response, and leaves it there.
func readWhole(response *http.Response) (string, error) {
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	return string(body), err
}

// about is the object that a request is about; empty if it fills a cache, finds out what the server
// can, or records an event.
func about(request *http.Request) string {
	_, object, _ := strings.Cut(request.URL.Path, "/namespaces/")
	_, object, _ = strings.Cut(object, "/")
	if !strings.Contains(object, "/") || strings.HasPrefix(object, "events") {
		return ""
	}
	return object
}

// before calls the function before the first request with this method about that object.
func before(method, object string, do func()) func(*rest.Config) {
	var once sync.Once
	return testcluster.Through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == method && about(request) == object {
			once.Do(do)
		}
		return next.RoundTrip(request)
	})
}

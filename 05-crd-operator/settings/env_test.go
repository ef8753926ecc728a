package settings

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

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// world is a cluster that knows SettingsLayers.
type world struct {
	*testcluster.Cluster
	admin client.Client
	role  *rest.Config // of a user who may do what the shipped role allows
}

// shared is the world that tests share.
var shared *world

func sharedWorld(t *testing.T) *world {
	t.Helper()
	if shared == nil {
		shared = newWorld(t, testcluster.Shared(t))
	}
	return shared
}

func newWorld(t *testing.T, c *testcluster.Cluster) *world {
	t.Helper()
	c.InstallCRDs(t, testcluster.ReadCRDs(t, "../config/crd")...)
	types := runtime.NewScheme()
	require.NoError(t, scheme.AddToScheme(types))
	require.NoError(t, v1alpha1.AddToScheme(types))
	admin, err := client.New(c.Config, client.Options{Scheme: types})
	require.NoError(t, err)
	role := c.User(t, "operator", testcluster.Rules(t, "../config/rbac/settings.yaml"))
	role.QPS = -1 // as cluster.Config has it
	return &world{Cluster: c, admin: admin, role: role}
}

// env is a namespace, and what users do in it. Many envs fit on one API server: the
// operator of an env watches its namespace only.
type env struct {
	*world
	t         testing.TB
	name      string
	config    *rest.Config // of the operator
	log       logr.Logger
	workers   int
	unwatched bool // the operator does not watch what it makes
}

// newEnv makes one. When the test is over and its operator has ended, no layer is left
// behind: there are operators that watch all namespaces.
func (w *world) newEnv(t testing.TB, name string) *env {
	t.Helper()
	name = unique(name)
	require.NoError(t, w.admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	t.Cleanup(func() {
		assert.NoError(t, w.admin.DeleteAllOf(context.Background(), &v1alpha1.SettingsLayer{}, client.InNamespace(name)))
	})
	return &env{world: w, t: t, name: name, config: w.role, log: logr.Discard(), workers: 1}
}

// names is how many unique has made.
var names atomic.Int32

// unique is a name that no test has yet. A test may run several times on one API
// server.
func unique(name string) string { return fmt.Sprintf("%s-%d", name, names.Add(1)) }

// data is what a layer has.
type data map[string]string

func (s *env) layer(name string, priority int32, d data) *v1alpha1.SettingsLayer {
	s.t.Helper()
	layer := &v1alpha1.SettingsLayer{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name},
		Spec:       v1alpha1.SettingsLayerSpec{Priority: priority, Data: d},
	}
	require.NoError(s.t, s.admin.Create(s.t.Context(), layer))
	return layer
}

// patchLayer changes a layer with a merge patch.
func (s *env) patchLayer(name, patch string) {
	s.t.Helper()
	layer := &v1alpha1.SettingsLayer{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}}
	require.NoError(s.t, s.admin.Patch(s.t.Context(), layer, client.RawPatch(types.MergePatchType, []byte(patch))))
}

func (s *env) deleteLayer(name string) {
	s.t.Helper()
	require.NoError(s.t, s.admin.Delete(s.t.Context(), &v1alpha1.SettingsLayer{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}}))
}

// create makes a ConfigMap of the operator's name, as somebody else.
func (s *env) create(d data) *corev1.ConfigMap {
	s.t.Helper()
	made := &corev1.ConfigMap{ObjectMeta: s.settings().ObjectMeta, Data: d}
	require.NoError(s.t, s.admin.Create(s.t.Context(), made))
	return made
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

func (s *env) settings() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "settings"}}
}

// state is the ConfigMap and all layers, in words.
type state map[string]string

func (s *env) state(ctx context.Context) (state, error) {
	state := state{}
	have := s.settings()
	err := s.admin.Get(ctx, client.ObjectKeyFromObject(have), have)
	if err == nil {
		state["settings"] = configMapInWords(have)
	} else if !apierrors.IsNotFound(err) {
		return nil, err
	}
	var layers v1alpha1.SettingsLayerList
	if err := s.admin.List(ctx, &layers, client.InNamespace(s.name)); err != nil {
		return nil, err
	}
	for _, layer := range layers.Items {
		state[layer.Name] = layerInWords(&layer)
	}
	return state, nil
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
	if o.Immutable != nil && *o.Immutable {
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
func (s *env) becomes(want state) {
	s.t.Helper()
	s.becomesWithin(testcluster.TestTimeout, want, "it does not come to this")
}

// restores waits until what others did is undone.
func (s *env) restores(want state) {
	s.t.Helper()
	limit := testcluster.TestTimeout
	if s.unwatched {
		limit = 3 * time.Second // nothing will come, and what comes takes some milliseconds
	}
	s.becomesWithin(limit, want, undone)
}

const undone = "what others did is not undone"

func (s *env) becomesWithin(limit time.Duration, want state, otherwise string) {
	s.t.Helper()
	var got state
	err := wait.PollUntilContextTimeout(s.t.Context(), 20*time.Millisecond, limit, true, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		state, err := s.state(ctx)
		if err == nil {
			got = state
		}
		return err == nil && maps.Equal(want, state), nil
	})
	if err != nil {
		require.Equal(s.t, want, got, otherwise)
	}
	require.NoError(s.t, err, otherwise)
}

// events are all events of the env, in words, sorted. One that was recorded three
// times is there once, with a (3).
func (s *env) events() []string {
	s.t.Helper()
	var list eventsv1.EventList
	require.NoError(s.t, s.admin.List(s.t.Context(), &list, client.InNamespace(s.name)))
	var all []string
	for _, e := range list.Items {
		line := fmt.Sprintf("%s %s %s: %s", e.Regarding.Name, e.Type, e.Reason, e.Note)
		if e.Series != nil {
			line += fmt.Sprintf(" (%d)", e.Series.Count)
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

// recorded waits for these events, and no others.
func (s *env) recorded(want ...string) {
	s.t.Helper()
	slices.Sort(want)
	require.EventuallyWithT(s.t, func(c *assert.CollectT) {
		assert.Equal(c, want, s.events())
	}, testcluster.TestTimeout, 20*time.Millisecond)
}

// start runs the operator, until the function that it returns or the test ends.
func (s *env) start(change ...func(*rest.Config)) (stop func()) {
	s.t.Helper()
	config := rest.CopyConfig(s.config)
	for _, f := range change {
		f(config)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), s.log))
	done := make(chan error, 1)
	go func() {
		o := Options{Namespace: s.name, Workers: s.workers, SkipNameValidation: true}
		if s.unwatched {
			done <- runWithoutWatch(ctx, config, o)
		} else {
			done <- Run(ctx, config, o)
		}
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(s.t, <-done)
	})
	s.t.Cleanup(stop)
	return stop
}

package operator

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// cache has the operator read from a cache, as the program does, which has all that there is in the
// namespaces, or in all of them.
func (e *env) cache(namespaces ...string) {
	e.Helper()
	config, scheme := rest.CopyConfig(e.server.Config), runtime.NewScheme()
	e.requests.Watch(config)
	require.NoError(e, AddToScheme(scheme))
	o := cache.Options{Scheme: scheme, Mapper: mapper(scheme), ByObject: cached(), DefaultNamespaces: map[string]cache.Config{}}
	for _, namespace := range namespaces {
		o.DefaultNamespaces[namespace] = cache.Config{}
	}
	informers, err := cache.New(config, o)
	require.NoError(e, err)
	ctx, _ := testcluster.Run(e, informers.Start)
	for object := range cached() {
		_, err := informers.GetInformer(ctx, object)
		require.NoError(e, err)
	}
	require.True(e, informers.WaitForCacheSync(ctx))
	e.operator.Client, err = client.New(config, client.Options{Scheme: scheme, Mapper: mapper(scheme), Cache: &client.CacheOptions{Reader: informers}})
	require.NoError(e, err)
	e.requests.Take()
}

// reads are what is read live.
var reads = []string{
	"get coordination.k8s.io/leases", "get persistentvolumeclaims", "get pods", "get postgres.programming-kubernetes.info/postgresclusters",
	"list persistentvolumeclaims", "list pods",
}

func TestAClusterAtRestIsReadEverySoOften(t *testing.T) {
	e := newEnv(t)
	e.createBackedUp(3, postgres.Retain)
	e.cache(e.namespace)
	e.clock.Step(trustCacheFor)
	e.reconcile()
	for range 2 {
		e.requests.Take()
		e.change(func() { e.asked = nil })
		rounds := int(trustCacheFor/whileSettled) - 1
		for range rounds {
			e.reconcile()
		}
		assert.Empty(t, e.requests.Take())
		e.change(func() { assert.Len(t, e.asked, 3*rounds, "the agents are asked all the same") })
		e.reconcile()
		assert.ElementsMatch(t, reads, e.requests.Take())
	}
}

// The cache has all that a decision about a cluster at rest is made by.
func TestTheCacheShowsTheSame(t *testing.T) {
	e := newEnv(t)
	e.create(3)
	e.settle()
	e.cache(e.namespace)
	live, tracker := e.observe(), e.operator.trackerOf(e.key())
	tracker.remember(live.Observed)
	cached, err := e.operator.observeFrom(t.Context(), e.operator.Client, e.key(), tracker.rested)
	require.NoError(t, err)
	assert.Equal(t, live.Members, cached.Members)
	assert.Equal(t, live.Cluster.Status, cached.Cluster.Status)
	assert.Equal(t, live.Cluster.Spec, cached.Cluster.Spec)
}

// stale shows pods as they were once.
type stale struct {
	client.Client
	pods corev1.PodList
}

func (s stale) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	pods, ok := list.(*corev1.PodList)
	if !ok {
		return s.Client.List(ctx, list, options...)
	}
	s.pods.DeepCopyInto(pods)
	return nil
}

// stale is the operator's client, whose cache receives no more events of pods.
func (e *env) stale() client.Client {
	e.Helper()
	s := stale{Client: e.operator.Client}
	require.NoError(e, e.List(e.Context(), &s.pods, client.InNamespace(e.namespace), client.HasLabels{plan.SelectorLabel}))
	return s
}

// The cache has the new primary already, and not yet its new pod: the watches of clusters and of
// pods know nothing of each other. The server would accept a status that was written because of that.
func TestNothingIsDoneBecauseOfAStaleCache(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	old := e.stale()
	e.kill("db-2")
	e.settle()
	e.want(`{"primary":"db-2"}`)
	e.until(func(c *postgres.PostgresCluster) bool { return isWell(c) && c.Status.Primary == "db-2" })
	e.settle()
	before := e.cluster()
	e.operator.Client = old
	o, err := e.operator.observeFrom(t.Context(), old, e.key(), e.operator.trackerOf(e.key()).rested)
	require.NoError(t, err)
	require.Equal(t, "Electing", plan.Cluster(o.Observed).Reason, "by the cache")
	for range 3 {
		e.reconcile()
	}
	assert.Equal(t, before.ResourceVersion, e.cluster().ResourceVersion)
}

// Somebody takes a label off, and the event is lost.
func TestWhatNoEventShowsIsSeenAllTheSame(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.operator.Client = e.stale()
	last := e.operator.trackerOf(e.key()).rested.Now
	e.patch(&corev1.Pod{}, "db-2", `{"metadata":{"labels":{"`+plan.RoleLabel+`":null}}}`)
	for e.pod("db-2").Labels[plan.RoleLabel] == "" {
		require.LessOrEqual(t, e.clock.Since(last), trustCacheFor)
		e.reconcile()
	}
	assert.GreaterOrEqual(t, e.clock.Since(last), trustCacheFor, "until then the cache was trusted")
}

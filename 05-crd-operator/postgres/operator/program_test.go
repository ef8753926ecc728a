package operator

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/internal/testcluster"
	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// role is what the operator is shipped with.
const role = "../config/rbac/role.yaml"

// startOperator runs the operator as a program does, with a clock that runs, until the test ends.
func (e *env) startOperator(config *rest.Config) *requests {
	e.Helper()
	r, _ := e.startOperatorWith(config, e.options())
	return r
}

// startOperatorWith returns a function that stops it earlier, too.
func (e *env) startOperatorWith(config *rest.Config, o Options) (r *requests, stop func()) {
	e.Helper()
	r = &requests{}
	config = rest.CopyConfig(config)
	config.QPS = -1
	r.watch(config)
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	mgr, err := newManager(ctx, config, o)
	require.NoError(e, err)
	operator := NewReconciler(mgr, o)
	operator.agents = e.dialer()
	done := make(chan error, 1)
	go func() { done <- start(ctx, mgr, operator, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(e, <-done)
	})
	e.Cleanup(stop)
	return r, stop
}

// eventually plays the world until it is so.
func (e *env) eventually(is func() bool) {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), testcluster.TestTimeout)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			require.FailNow(e, "it does not come so far", "%s", brief(e.cluster()))
		case <-ticker.C:
			e.simulate()
		}
	}
}

func (e *env) isWellIn(term int64) func() bool {
	return func() bool {
		c := e.cluster()
		return isWell(c) && c.Status.Term == term
	}
}

// It is neither refused anything nor allowed what it does not do.
func TestTheRoleIsEnoughAndTheSmallest(t *testing.T) {
	// Not every server can send a cache what it lists as the beginning of a watch.
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	e := newEnv(t)
	foreign := &corev1.Service{ObjectMeta: e.meta("db"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	require.NoError(t, e.Create(t.Context(), foreign))
	rules := testcluster.Rules(t, role)
	requests := e.startOperator(e.server.User(t, e.namespace, rules))
	e.archives(plan.Archive{})
	cluster := &postgres.PostgresCluster{ObjectMeta: e.meta("db"), Spec: postgres.PostgresClusterSpec{Size: 2, Backup: &postgres.Backup{Schedule: "@every 1h"}}}
	require.NoError(t, e.Create(t.Context(), cluster))
	e.eventually(e.isWellIn(1))
	e.eventually(func() bool { return len(e.backupPods()) == 1 })
	e.eventually(func() bool { return slices.Contains(requests.all(), "patch events") }) // the same once more
	require.NoError(t, e.Delete(t.Context(), foreign))
	e.eventually(func() bool { return len(e.left(&corev1.ServiceList{})) == 2 })
	for name, tc := range drift {
		before := content(e, tc.object, tc.name)
		e.patch(tc.object.DeepCopyObject().(client.Object), tc.name, tc.patch)
		t.Log(name)
		e.eventually(func() bool { return assert.ObjectsAreEqual(before, content(e, tc.object, tc.name)) })
	}
	e.bind("db-2", e.class("-grows", true))
	e.want(`{"storage":"2Gi"}`)
	e.eventually(func() bool { return e.wants("db-2") == "2Gi" })
	e.kill("db-1")
	e.eventually(e.isWellIn(2))
	e.want(`{"size":1}`)
	e.eventually(e.isWellIn(2))
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.eventually(func() bool {
		return apierrors.IsNotFound(e.Get(t.Context(), e.key(), &postgres.PostgresCluster{}))
	})
	used := requests.take()
	slices.Sort(used)
	assert.Equal(t, rights(rules), slices.Compact(used))
}

// rights are those of rules, as requests are. The one to finalizers is not for a request:
// TestOwnersAreBlocked is about it.
func rights(rules []rbacv1.PolicyRule) (list []string) {
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if resource != "postgresclusters/finalizers" {
					list = append(list, verb+" "+resource)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// A server may want that a client which makes an object that keeps its owner from being deleted
// may change the owner's finalizers.
func TestOwnersAreBlocked(t *testing.T) {
	server := testcluster.Start(t, "enable-admission-plugins=OwnerReferencesPermissionEnforcement")
	e := newEnvOn(t, server, func() { installCRD(t, server) })
	rules := testcluster.Rules(t, role)
	less := slices.DeleteFunc(slices.Clone(rules), func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.Resources, "postgresclusters/finalizers")
	})
	require.Len(t, less, len(rules)-1)
	cluster := e.create(1)
	secret := func() client.Object { return &corev1.Secret{ObjectMeta: objectMeta(cluster, "db")} }
	err := e.connect(server.User(t, "less", less)).Create(t.Context(), secret())
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, err, "blockOwnerDeletion")
	assert.NoError(t, e.connect(server.User(t, "enough", rules)).Create(t.Context(), secret()))
}

// While all is well, it only reads, once a second: that is what a silent member costs.
func TestAClusterThatIsWellIsReadAndNotWritten(t *testing.T) {
	e := newEnv(t)
	requests := e.startOperator(e.server.Config)
	e.create(3)
	e.eventually(e.isWellIn(1))
	reads := []string{"get leases", "get postgresclusters", "list persistentvolumeclaims", "list pods"}
	settled := func() bool {
		list := requests.all()
		last := slices.Clone(list[max(0, len(list)-12):])
		slices.Sort(last)
		return slices.Equal(last, slices.Sorted(slices.Values(slices.Repeat(reads, 3))))
	}
	e.eventually(settled)
	began := time.Now()
	requests.take()
	e.eventually(func() bool { return len(requests.all()) >= 12 })
	t.Logf("%.1f requests in a second", float64(len(requests.all()))/time.Since(began).Seconds())
	for _, request := range requests.all() {
		assert.Contains(t, reads, request)
	}
}

// When the API server comes back, the operator goes on, and what it could not see is no fault of
// the members.
func TestTheServerIsAwayForAWhile(t *testing.T) {
	e := newEnv(t)
	proxy, config := testcluster.StartProxy(t, e.server.Config)
	requests := e.startOperator(config)
	e.create(2)
	e.eventually(e.isWellIn(1))
	standby := e.pod("db-2").UID
	proxy.Refuse()
	requests.take()
	e.kill("db-1")
	e.eventually(func() bool { return len(requests.all()) > 4 }) // in vain
	assert.EqualValues(t, 1, e.cluster().Status.Term)
	proxy.Allow()
	e.eventually(e.isWellIn(2))
	assert.Equal(t, standby, e.pod("db-2").UID)
}

func TestTheProgramReportsWhatIsMissing(t *testing.T) {
	e := newEnv(t)
	ctx := klog.NewContext(t.Context(), logr.Discard())
	err := Run(ctx, e.server.User(t, e.namespace, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}}), e.options())
	require.Error(t, err)
	assert.ErrorContains(t, err, "postgresclusters")
}

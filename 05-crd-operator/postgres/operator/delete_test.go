package operator

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// gone works until the cluster is.
func (e *env) gone() {
	e.Helper()
	for range 200 {
		e.simulate()
		e.reconcile()
		if err := e.Get(e.Context(), e.key(), &postgres.PostgresCluster{}); apierrors.IsNotFound(err) {
			return
		}
	}
	require.FailNow(e, "the cluster stays")
}

// left are the objects of a kind that are there.
func (e *env) left(list client.ObjectList) []metav1.Object {
	e.Helper()
	require.NoError(e, e.List(e.Context(), list, client.InNamespace(e.namespace)))
	var objects []metav1.Object
	require.NoError(e, apimeta.EachListItem(list, func(object runtime.Object) error {
		objects = append(objects, object.(metav1.Object))
		return nil
	}))
	return objects
}

// A namespace's Lease may be deleted before its cluster is, and none is made there any more.
func TestAClusterGoesWithItsNamespace(t *testing.T) {
	e := newEnv(t)
	cluster := e.create(2)
	e.settle()
	require.NoError(t, e.server.Client.CoreV1().Namespaces().Delete(t.Context(), e.namespace, metav1.DeleteOptions{}))
	require.NoError(t, e.Delete(t.Context(), get(e, "db", &coordinationv1.Lease{})))
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.gone()
}

// A namespace deletes its pods first, and its clusters only when they are gone. So does a drain.
func TestPodsThatSomebodyDeletesGo(t *testing.T) {
	for name, stop := range map[string]func(*env){
		"though the cluster is paused":      func(e *env) { e.want(`{"paused":true}`) },
		"though the image is another major": func(e *env) { e.upgrade("postgres-member:18", "18") },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.create(2)
			e.settle()
			stop(e)
			require.NoError(t, e.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(e.namespace)))
			for range 20 {
				e.simulate()
				e.reconcile()
			}
			assert.Empty(t, e.left(&corev1.PodList{}))
		})
	}
}

func TestADeletedClusterLeavesNothing(t *testing.T) {
	e := newEnv(t)
	cluster := e.create(3)
	e.settle()
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.gone()
	requests := e.requests.Take()
	fromDisks := requests[slices.Index(requests, "delete persistentvolumeclaims"):]
	assert.NotContains(t, fromDisks, "patch pods", "no PostgreSQL loses its files while it runs")

	assert.Empty(t, e.left(&corev1.PodList{}))
	assert.Empty(t, e.left(&corev1.PersistentVolumeClaimList{}))
	for _, kind := range collected { // nothing collects garbage here
		for _, object := range e.left(kind) {
			assert.True(t, metav1.IsControlledBy(object, cluster), "%T %s", kind, object.GetName())
		}
	}
	e.reconcile()
	for _, remembered := range []*sync.Map{&e.operator.trackers, &e.operator.lags} {
		remembered.Range(func(name, _ any) bool { return assert.Fail(t, "it is remembered", name) })
	}
}

// collected is what the garbage collector takes away.
var collected = []client.ObjectList{
	&corev1.SecretList{}, &corev1.ServiceList{}, &corev1.ServiceAccountList{}, &corev1.ConfigMapList{}, &coordinationv1.LeaseList{},
	&networkingv1.NetworkPolicyList{}, &policyv1.PodDisruptionBudgetList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{},
}

// collect plays the garbage collector, after a cluster is gone.
func (e *env) collect(cluster *postgres.PostgresCluster) {
	e.Helper()
	for _, kind := range collected {
		for _, object := range e.left(kind) {
			if metav1.IsControlledBy(object, cluster) {
				require.NoError(e, e.Delete(e.Context(), object.(client.Object)))
			}
		}
	}
}

// The garbage collector may come after the next cluster of this name, and must not take away
// what that one uses.
func TestAClusterOfTheSameNameBeginsAnew(t *testing.T) {
	e := newEnv(t)
	cluster := e.create(1)
	e.settle()
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.gone()
	e.create(1)
	for range 20 {
		e.simulate()
		e.reconcile()
	}
	assert.Empty(t, e.left(&corev1.PodList{}), "their password would be gone in a moment")
	assert.Contains(t, strings.Join(e.recorded(), "\n"), "the Secret db-app is that of the last cluster of this name")
	e.collect(cluster)
	e.settle()
}

// An operator that has done its part does not come back a thousand times a second.
func TestAClusterWaitsForSomebodyElse(t *testing.T) {
	e := newEnv(t)
	cluster := e.create(1)
	e.settle()
	e.patch(&postgres.PostgresCluster{}, "db", `{"metadata":{"finalizers":["example.com/other","`+finalizer+`"]}}`)
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.until(func(c *postgres.PostgresCluster) bool { return len(c.Finalizers) == 1 })
	assert.Zero(t, e.reconcile().RequeueAfter)
	e.patch(&postgres.PostgresCluster{}, "db", `{"metadata":{"finalizers":null}}`)
}

func TestWhatWasMadeOnceStays(t *testing.T) {
	e := newEnv(t)
	require.NoError(t, e.Create(t.Context(), &corev1.Secret{ObjectMeta: e.meta("db"), StringData: map[string]string{"password": "chosen"}}))
	cluster := e.create(1)
	e.settle()
	e.kill("db-1")
	e.until(func(c *postgres.PostgresCluster) bool { return isWell(c) && c.Status.Term == 2 })
	assert.Equal(t, "chosen", string(get(e, "db", &corev1.Secret{}).Data["password"]))
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.gone()
	get(e, "db", &corev1.Secret{}) // the user who made it may need it
}

// A pod that ends at once is made again ever more slowly, and what does nothing costs nothing.
func TestAPodThatEndsAtOnceIsMadeEverMoreSlowly(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	made, began := []time.Duration{}, e.clock.Now()
	for len(made) < 8 {
		for _, pod := range e.left(&corev1.PodList{}) {
			if pod := pod.(*corev1.Pod); !ended(pod) {
				made = append(made, e.clock.Now().Sub(began).Round(time.Second))
				e.run(pod)
				e.end(e.pod(pod.Name))
			}
		}
		e.reconcile()
	}
	assert.Greater(t, made[7], 20*time.Second)
	creates := func(what string) bool { return what != "create pods" }
	assert.Len(t, slices.DeleteFunc(e.requests.All(), creates), 8)
}

// A user who deletes a disk wants a new one now: how often its pod has ended does not count.
func TestANewDiskIsMadeAtOnce(t *testing.T) {
	e := newEnv(t)
	e.create(3)
	e.settle()
	for range 3 {
		old := e.pod("db-3").UID
		e.kill("db-3")
		e.until(func(*postgres.PostgresCluster) bool { return e.agents["db-3"] != nil && e.agents["db-3"].uid != old })
	}
	e.until(isWell)
	began := e.clock.Now()
	require.NoError(t, e.Delete(t.Context(), get(e, "db-3", &corev1.PersistentVolumeClaim{})))
	e.until(func(c *postgres.PostgresCluster) bool { return c.Status.Replicas == 2 })
	e.until(isWell)
	assert.Less(t, e.clock.Now().Sub(began), time.Second)
}

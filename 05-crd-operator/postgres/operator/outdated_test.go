package operator

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

const newImage = "postgres-member:17.6"

// images are those of the pods, by the names of members.
func (e *env) images(names ...string) (images []string) {
	e.Helper()
	for _, name := range names {
		images = append(images, e.pod(name).Spec.Containers[0].Image)
	}
	return images
}

// upgrade starts another operator, with another image.
func (e *env) upgrade(image, version string) {
	e.Helper()
	e.restart()
	e.operator.Image, e.operator.Version = image, version
}

// uids are those of the pods, by the names of members.
func (e *env) uids(names ...string) map[string]types.UID {
	e.Helper()
	uids := map[string]types.UID{}
	for _, name := range names {
		uids[name] = e.pod(name).UID
	}
	return uids
}

// isUpdated reports whether all pods have the new image and all is well.
func (e *env) isUpdated(names ...string) func(*postgres.PostgresCluster) bool {
	return func(c *postgres.PostgresCluster) bool {
		return isWell(c) && !slices.ContainsFunc(names, func(name string) bool {
			var pod corev1.Pod
			err := e.Get(e.Context(), types.NamespacedName{Namespace: e.namespace, Name: name}, &pod)
			return err != nil || pod.Spec.Containers[0].Image != newImage
		})
	}
}

// updateEvents are the events of an update.
func (e *env) updateEvents() (list []string) {
	for _, event := range e.recorded() {
		for _, reason := range []string{"MemberOutdated ", "MemberEnded ", "Electing ", "Promoted "} {
			if _, note, found := strings.Cut(event, reason); found {
				list = append(list, note)
			}
		}
	}
	return list
}

func TestPodsGetAnotherImageOneByOne(t *testing.T) {
	e := newEnv(t)
	e.create(3)
	e.settle()
	e.recorded()
	e.upgrade(newImage, "17")
	e.until(e.isUpdated("db-1", "db-2", "db-3"))
	assert.Equal(t, []string{
		"db-3 is outdated; its pod is replaced",
		"the pod of db-3 has ended and is created again",
		"db-2 is outdated; its pod is replaced",
		"the pod of db-2 has ended and is created again",
		"db-1: a switchover to db-3, because db-1 is outdated",
		"db-3 takes writes in term 2",
		"db-1 is outdated; its pod is replaced",
		"the pod of db-1 has ended and is created again",
	}, e.updateEvents())
	before := e.uids("db-1", "db-2", "db-3")
	e.settle()
	assert.Equal(t, before, e.uids("db-1", "db-2", "db-3"))
	assert.EqualValues(t, 2, e.cluster().Status.Term)
}

// Two operators with two images, which know nothing of each other, work side by side.
func TestTwoOperatorsOfTwoImagesComeToAnEnd(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.recorded()
	first := e.operator
	e.upgrade(newImage, "17")
	second := e.operator
	pods := func() (uids []types.UID) {
		var list corev1.PodList
		require.NoError(t, e.List(t.Context(), &list, client.InNamespace(e.namespace)))
		for _, pod := range list.Items {
			uids = append(uids, pod.UID)
		}
		return uids
	}
	last, same := pods(), 0
	for range 600 {
		if same == 30 {
			break
		}
		e.simulate()
		for _, e.operator = range []*Reconciler{first, second} {
			e.reconcile()
		}
		if now := pods(); slices.Equal(now, last) && isWell(e.cluster()) {
			same++
		} else {
			last, same = now, 0
		}
	}
	assert.Equal(t, 30, same, "they replace each other's pods forever")
	events := strings.Join(e.recorded(), "\n")
	assert.Contains(t, events, "Warning Contested")
	assert.LessOrEqual(t, strings.Count(events, "MemberOutdated"), 2*2*mostUpdates, events)

	e.upgrade(newImage, "17") // one is stopped, and the other one starts again
	e.until(e.isUpdated("db-1", "db-2"))
}

// The first member that has the image does not work, and no other one gets it. Then there is a
// better image.
func TestAnImageThatDoesNotWorkStopsAtTheFirstMember(t *testing.T) {
	for name, breaks := range map[string]func(*env, *corev1.Pod){
		"its agent does not answer": func(e *env, pod *corev1.Pod) { e.change(func() { e.agents[pod.Name].frozen = true }) },
		"its container ends":        func(e *env, pod *corev1.Pod) { e.end(pod) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.create(3)
			e.settle()
			before := e.uids("db-1", "db-2")
			e.upgrade("postgres-member:17.5", "17")
			for range 40 {
				e.simulate()
				var pods corev1.PodList
				require.NoError(t, e.List(t.Context(), &pods, client.InNamespace(e.namespace)))
				for _, pod := range pods.Items {
					if pod.Spec.Containers[0].Image == "postgres-member:17.5" && started(&pod) && !ended(&pod) {
						breaks(e, &pod)
					}
				}
				e.reconcile()
			}
			assert.Equal(t, before, e.uids("db-1", "db-2"), "no other member got it")
			assert.EqualValues(t, 1, e.cluster().Status.Term)
			e.upgrade(newImage, "17")
			e.until(e.isUpdated("db-1", "db-2", "db-3"))
		})
	}
}

func TestAnImageOfAnotherMajorVersionIsNotUsed(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	require.Equal(t, "17", e.cluster().Status.Version)
	before := e.uids("db-1")
	e.upgrade("postgres-member:18", "18")
	e.kill("db-2")
	for range 20 {
		e.simulate()
		e.reconcile()
	}
	assert.Equal(t, before, e.uids("db-1"))
	assert.Equal(t, []string{"postgres-member:17"}, e.images("db-2"))
	accepted := meta.FindStatusCondition(e.cluster().Status.Conditions, postgres.Accepted)
	assert.Equal(t, "False", string(accepted.Status))
	assert.Contains(t, accepted.Message, "the image has PostgreSQL 18, and the database is one of 17")
	e.upgrade(newImage, "17")
	e.until(e.isUpdated("db-1", "db-2"))
	assert.True(t, meta.IsStatusConditionTrue(e.cluster().Status.Conditions, postgres.Accepted))
}

func TestWhichPodsAreOutdated(t *testing.T) {
	r := &Reconciler{Options: Options{Image: "postgres-member:17"}}
	c := cluster(func(*postgres.PostgresClusterSpec) {})
	pod := r.newPod(c, "db-1")
	pod.Spec.NodeName, pod.Spec.Tolerations = "node", []corev1.Toleration{{Key: "node"}}
	assert.False(t, outdated(pod.Spec.Containers[0], r.newPod(c, "db-1").Spec.Containers[0]), "what others add is no difference")
	pod.Spec.Containers[0].Image = newImage
	assert.True(t, outdated(pod.Spec.Containers[0], r.newPod(c, "db-1").Spec.Containers[0]))
}

// A webhook may put its container first, such as Istio with holdApplicationUntilProxyStarts.
func TestAContainerBeforeOursIsNotOurs(t *testing.T) {
	r := &Reconciler{Options: Options{Image: "postgres-member:17"}}
	c := cluster(func(*postgres.PostgresClusterSpec) {})
	pod := r.newPod(c, "db-1")
	pod.Spec.NodeName = "node"
	pod.Status = corev1.PodStatus{PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}
	want := statusAddress(pod)
	pod.Spec.Containers = slices.Insert(pod.Spec.Containers, 0, corev1.Container{Name: "proxy", Image: "proxy:1", Ports: []corev1.ContainerPort{{Name: "proxy", ContainerPort: 15001}}})
	for _, where := range []string{"live", "in the cache"} {
		assert.Equal(t, want, statusAddress(pod), where)
		o := observation{Observed: plan.Observed{Cluster: c, Members: []plan.Member{{Name: "db-1", Pod: &plan.Pod{UID: pod.UID}}}}, pods: map[types.UID]*corev1.Pod{pod.UID: pod}}
		r.observeOutdated(&o, &tracker{updates: map[string]*updates{}})
		assert.False(t, o.Members[0].Pod.Outdated, where)
		_, err := trimPod(pod)
		require.NoError(t, err)
	}
}

func TestAPodThatWasMadeForARestoreIsNotOutdated(t *testing.T) {
	r := &Reconciler{Options: Options{Image: "postgres-member:17"}}
	c := cluster(func(*postgres.PostgresClusterSpec) {})
	now := r.newPod(c, "db-1")
	c.Status.Phase, c.Status.Restore = postgres.Seeding, &postgres.RestoreFrom{Cluster: "other"}
	made := r.newPod(c, "db-1")
	assert.Contains(t, made.Spec.Containers[0].Args, sourceFlag)
	assert.False(t, outdated(made.Spec.Containers[0], now.Spec.Containers[0]))
	c.Status.Restore, c.Spec.Backup = nil, &postgres.Backup{}
	assert.True(t, outdated(now.Spec.Containers[0], r.newPod(c, "db-1").Spec.Containers[0]))
}

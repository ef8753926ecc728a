package operator

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// refusal is the condition Accepted, as a reason and a sentence, if it is False.
func (e *env) refusal() string {
	e.Helper()
	accepted := meta.FindStatusCondition(e.cluster().Status.Conditions, postgres.Accepted)
	if accepted == nil || accepted.Status == metav1.ConditionTrue {
		return ""
	}
	return accepted.Reason + " " + accepted.Message
}

// refused works until something is refused, and reports whether an event says so.
func (e *env) refused(what string) {
	e.Helper()
	e.until(func(*postgres.PostgresCluster) bool { return strings.Contains(e.refusal(), what) })
	e.reconcile()
	assert.Contains(e, e.recorded(), "Warning "+e.refusal())
}

// claim makes a disk of somebody else.
func (e *env) claim(name string) types.UID {
	e.Helper()
	disk := newDisk(cluster(func(*postgres.PostgresClusterSpec) {}), name)
	disk.ObjectMeta = e.meta(name)
	require.NoError(e, e.Create(e.Context(), disk))
	return disk.UID
}

// mounts reports whether a pod of a member has the disk of the backups.
func (e *env) mounts(member string) bool {
	e.Helper()
	return slices.ContainsFunc(e.pod(member).Spec.Volumes, func(v corev1.Volume) bool { return v.Name == backupVolume })
}

// remains reports whether the disk of the backups is the same as before, and is to stay.
func (e *env) remains(uid types.UID) {
	e.Helper()
	disk := get(e, "db-backup", &corev1.PersistentVolumeClaim{})
	assert.Equal(e, uid, disk.UID)
	assert.Nil(e, disk.DeletionTimestamp)
}

// Pruning would empty it, and onDelete: Delete would delete it.
func TestADiskOfSomebodyElseIsNotForBackups(t *testing.T) {
	e := newEnv(t)
	uid := e.claim("db-backup")
	cluster := &postgres.PostgresCluster{ObjectMeta: e.meta("db"), Spec: postgres.PostgresClusterSpec{Size: 1, Backup: &postgres.Backup{Schedule: "@every 1h", OnDelete: postgres.Delete}}}
	require.NoError(t, e.Create(t.Context(), cluster))
	e.refused("ForeignDisk the PersistentVolumeClaim db-backup was not made for a cluster of this name")
	assert.Equal(t, postgres.Phase(""), e.cluster().Status.Phase, "nothing begins")
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.gone()
	e.remains(uid)
}

// A cluster runs already, and then somebody wants backups.
func TestADiskOfSomebodyElseIsNotMounted(t *testing.T) {
	e := newEnv(t)
	cluster := e.create(2)
	e.settle()
	before, uid := e.uids("db-1", "db-2"), e.claim("db-backup")
	e.want(`{"backup":{"schedule":"@every 1h","onDelete":"Delete","storage":"3Gi"}}`)
	e.refused("ForeignDisk")
	e.archives(plan.Archive{})
	e.settle()
	assert.Equal(t, before, e.uids("db-1", "db-2"), "no pod is replaced")
	assert.Equal(t, "ForeignDisk", meta.FindStatusCondition(e.cluster().Status.Conditions, postgres.BackedUp).Reason)
	assert.Empty(t, e.backupPods())
	e.kill("db-2")
	e.until(isWell)
	assert.False(t, e.mounts("db-2"))

	// Somebody says that it is for this cluster, which goes on with it, and yet has not made it.
	e.patch(&corev1.PersistentVolumeClaim{}, "db-backup", `{"metadata":{"labels":{"`+plan.BackupLabel+`":"db"}}}`)
	e.until(func(c *postgres.PostgresCluster) bool { return isWell(c) && e.mounts("db-1") && e.mounts("db-2") })
	assert.Empty(t, e.refusal())
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.gone()
	e.remains(uid)
	assert.Contains(t, strings.Join(e.recorded(), "\n"), "Warning BackupsStay the PersistentVolumeClaim db-backup was made for an earlier cluster of this name")
}

// The backups of a cluster that is gone go with the next one of its name only if that continues them.
func TestTheBackupsOfTheLastClusterAreItsOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		from  *postgres.RestoreFrom
		stays bool
	}{
		"another database":              {nil, true},
		"the database that was there":   {&postgres.RestoreFrom{Cluster: "db"}, false},
		"the database of another again": {&postgres.RestoreFrom{Cluster: "other"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			other := &postgres.PostgresCluster{ObjectMeta: e.meta("other"), Spec: postgres.PostgresClusterSpec{Backup: &postgres.Backup{}}}
			require.NoError(t, e.Create(t.Context(), newBackupDisk(other)))
			last := e.createBackedUp(1, postgres.Retain)
			require.NoError(t, e.Delete(t.Context(), last))
			e.gone()
			e.collect(last)
			uid := get(e, "db-backup", &corev1.PersistentVolumeClaim{}).UID
			next := &postgres.PostgresCluster{ObjectMeta: e.meta("db"), Spec: postgres.PostgresClusterSpec{Size: 1, RestoreFrom: tc.from, Backup: &postgres.Backup{Schedule: "@every 1h", OnDelete: postgres.Delete}}}
			require.NoError(t, e.Create(t.Context(), next))
			e.settle()
			require.NoError(t, e.Delete(t.Context(), next))
			e.gone()
			if tc.stays {
				e.remains(uid)
				return
			}
			e.simulate()
			assert.Len(t, e.left(&corev1.PersistentVolumeClaimList{}), 1, "that of the other one")
		})
	}
}

// Somebody makes another disk of that name after the operator has looked.
func TestOnlyTheDiskThatWasSeenIsDeleted(t *testing.T) {
	e := newEnv(t)
	e.createBackedUp(1, postgres.Delete)
	o := e.observe()
	o.backupDisk.UID = "another"
	require.Error(t, e.operator.endBackups(t.Context(), o))
	e.remains(get(e, "db-backup", &corev1.PersistentVolumeClaim{}).UID)
}

// The Lease is what makes sure that there is one primary.
func TestALeaseOfSomebodyElseIsLeftAlone(t *testing.T) {
	e := newEnv(t)
	foreign := &coordinationv1.Lease{ObjectMeta: e.meta("db")}
	require.NoError(t, e.Create(t.Context(), foreign))
	cluster := e.create(1)
	e.refused("ForeignObjects objects that are not this cluster's have names of it: Lease db;")
	assert.Empty(t, e.left(&corev1.PodList{}), "no member begins without a Lease")
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.gone()
	assert.Equal(t, foreign.ResourceVersion, get(e, "db", &coordinationv1.Lease{}).ResourceVersion)
}

// In an election it would be freed, and then two members might take writes.
func TestALeaseOfSomebodyElseIsNotFree(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.change(func() { e.agents["db-1"].frozen = true })
	require.NoError(t, e.Delete(t.Context(), get(e, "db", &coordinationv1.Lease{})))
	require.NoError(t, e.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: e.meta("db")}))
	for range 20 {
		e.reconcile()
		e.clock.Step(time.Second)
	}
	assert.Contains(t, []postgres.Phase{postgres.Electing, postgres.Unsafe}, e.cluster().Status.Phase)
	require.NoError(t, e.Delete(t.Context(), get(e, "db", &coordinationv1.Lease{})))
	e.until(func(c *postgres.PostgresCluster) bool { e.clock.Step(time.Second); return isWell(c) })
}

// A Secret that somebody has copied, with its labels, is theirs.
func TestSecretsOfSomebodyElseAreLeftAlone(t *testing.T) {
	e := newEnv(t)
	labels := map[string]string{plan.SelectorLabel: "db"}
	foreign := &corev1.Secret{ObjectMeta: e.meta("copy"), StringData: map[string]string{"password": "theirs"}}
	slot := &corev1.Secret{ObjectMeta: e.meta("db-tls-1"), StringData: map[string]string{"key": "theirs"}}
	foreign.Labels, slot.Labels = labels, labels
	require.NoError(t, e.Create(t.Context(), foreign))
	require.NoError(t, e.Create(t.Context(), slot))
	cluster := e.create(1)
	e.refused("Secret db-tls-1")
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.gone()
	for _, secret := range []*corev1.Secret{foreign, slot} {
		assert.Equal(t, secret.ResourceVersion, get(e, secret.Name, &corev1.Secret{}).ResourceVersion)
	}
}

// The right to read a Secret is needed to see whose it is. What is in it never comes here.
func TestTheDataOfSecretsIsNotRead(t *testing.T) {
	e := newEnv(t)
	config := rest.CopyConfig(e.server.Config)
	reads := make(chan string, 1000)
	testcluster.Through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if strings.Contains(request.URL.Path, "/secrets") && request.Method != http.MethodPost && request.Method != http.MethodDelete {
			reads <- request.Method + " " + request.Header.Get("Accept")
		}
		return next.RoundTrip(request)
	})(config)
	c := e.connect(config)
	e.operator.Client, e.operator.Live = c, c
	cluster := e.create(2)
	e.settle()
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.gone()
	close(reads)
	assert.NotEmpty(t, reads)
	for read := range reads {
		first, _, _ := strings.Cut(read, ",") // what else is accepted, this server never sends
		assert.Contains(t, first, "as=PartialObjectMetadata")
	}
}

// A deletion by name returns the object if a finalizer keeps it, which a dry run can ask for. So the
// right to delete a Secret is one to read it, too.
func TestADryRunOfADeletionReturnsASecret(t *testing.T) {
	e := newEnv(t)
	require.NoError(t, e.Create(t.Context(), &corev1.Secret{ObjectMeta: e.meta("db"), StringData: map[string]string{"password": "secret"}}))
	secret := &corev1.Secret{}
	err := e.server.Client.CoreV1().RESTClient().Delete().Namespace(e.namespace).Resource("secrets").Name("db").
		Body(&metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}, PropagationPolicy: new(metav1.DeletePropagationForeground)}).
		Do(t.Context()).Into(secret)
	require.NoError(t, err)
	assert.Equal(t, "secret", string(secret.Data["password"]))
	assert.NoError(t, e.Get(t.Context(), client.ObjectKeyFromObject(secret), secret), "it is still there")
}

const (
	noLabels     = `{"metadata":{"labels":null}}`
	anotherLabel = `{"metadata":{"labels":{"` + plan.SelectorLabel + `":"other"}}}`
)

// A pod runs on without its label, and so does the primary in it. One reconcile puts the label back.
func TestAMemberThatHasLostItsLabelIsStillOne(t *testing.T) {
	for name, tc := range map[string]struct {
		object client.Object
		name   string
		patch  string
	}{
		"the primary":                    {&corev1.Pod{}, "db-1", noLabels},
		"the primary has another value":  {&corev1.Pod{}, "db-1", anotherLabel},
		"the standby":                    {&corev1.Pod{}, "db-2", noLabels},
		"the disk of the primary":        {&corev1.PersistentVolumeClaim{}, "db-1", noLabels},
		"a disk has another value":       {&corev1.PersistentVolumeClaim{}, "db-2", anotherLabel},
		"the disk of the third, as well": {&corev1.PersistentVolumeClaim{}, "db-3", noLabels},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.create(3)
			e.settle()
			e.recorded()
			before := e.uids("db-1", "db-2", "db-3")
			e.patch(tc.object, tc.name, tc.patch)
			e.reconcile()
			assert.Equal(t, "db", get(e, tc.name, tc.object).GetLabels()[plan.SelectorLabel])
			e.settle()
			assert.Equal(t, before, e.uids("db-1", "db-2", "db-3"))
			assert.EqualValues(t, 1, e.cluster().Status.Term)
			assert.Equal(t, []string{"Warning LabelRestored the " + kindAndName(get(e, tc.name, tc.object)) + " had lost its label " + plan.SelectorLabel + " and has it again"}, e.recorded())
		})
	}
}

// Both halves of a member have lost their labels, and the operator has just started.
func TestAMemberWithoutAnyLabelIsFound(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	before := e.uids("db-1", "db-2")
	e.restart()
	for _, name := range []string{"db-1", "db-2"} {
		e.patch(&corev1.Pod{}, name, noLabels)
		e.patch(&corev1.PersistentVolumeClaim{}, name, noLabels)
	}
	e.settle()
	assert.Equal(t, before, e.uids("db-1", "db-2"))
	assert.EqualValues(t, 1, e.cluster().Status.Term)
	assert.Equal(t, string(plan.Primary), e.pod("db-1").Labels[plan.RoleLabel], "the label of the role, too")
}

// Nobody but the operator takes its finalizer from a pod.
func TestAPodWithoutItsLabelCanBeDeleted(t *testing.T) {
	e := newEnv(t)
	cluster := e.create(2)
	e.settle()
	old := e.pod("db-1")
	e.want(`{"paused":true}`)
	e.patch(&corev1.Pod{}, "db-1", noLabels)
	require.NoError(t, e.Delete(t.Context(), old))
	e.want(`{"paused":false}`)
	e.until(func(c *postgres.PostgresCluster) bool { return isWell(c) && c.Status.Term == 2 })
	assert.NotEqual(t, old.UID, e.pod("db-1").UID)

	e.patch(&corev1.Pod{}, "db-1", noLabels)
	e.patch(&corev1.PersistentVolumeClaim{}, "db-2", noLabels)
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.gone()
	e.simulate()
	assert.Empty(t, e.left(&corev1.PodList{}))
	assert.Empty(t, e.left(&corev1.PersistentVolumeClaimList{}))
}

// A paused cluster is left alone, but what is there is seen.
func TestAPausedClusterGetsNoLabels(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	e.want(`{"paused":true}`)
	e.patch(&corev1.Pod{}, "db-1", noLabels)
	e.reconcile()
	assert.Empty(t, e.pod("db-1").Labels)
	assert.EqualValues(t, 1, e.cluster().Status.Replicas)
	e.want(`{"paused":false}`)
	e.settle()
	assert.EqualValues(t, 1, e.cluster().Status.Term)
}

// As long as all members are listed, nobody asks for them by name.
func TestNobodyLooksForWhatIsThere(t *testing.T) {
	e := newEnv(t)
	e.create(3)
	e.settle()
	e.observe()
	for _, request := range e.requests.Take() {
		assert.NotContains(t, []string{"get pods", "get persistentvolumeclaims"}, request)
	}
}

// A pod of that name which came since is another one.
func TestTheLabelIsForThePodThatWasSeen(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	e.patch(&corev1.Pod{}, "db-1", noLabels)
	o := e.observe()
	require.Len(t, o.unlabelled, 1)
	e.recorded()
	e.patch(&corev1.Pod{}, "db-1", `{"metadata":{"annotations":{"another":"one"}}}`)
	e.operator.relabel(t.Context(), o)
	assert.Empty(t, e.pod("db-1").Labels)
	assert.Empty(t, e.recorded(), "it is no news that it was late")
}

package operator

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

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
			assert.Equal(t, []string{"Warning LabelRestored the " + kindAndName(tc.object, tc.name) + " had lost its label " + plan.SelectorLabel + " and has it again"}, e.recorded())
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
	o.unlabelled[0].SetUID("another")
	err := e.operator.addLabel(t.Context(), o.unlabelled[0], "db")
	assert.True(t, apierrors.IsConflict(err) || apierrors.IsInvalid(err), "%v", err)
	e.operator.relabel(t.Context(), o)
	assert.Contains(t, strings.Join(e.recorded(), "\n"), "restoring the label of the Pod db-1")
	assert.Empty(t, e.pod("db-1").Labels)
}

package operator

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func TestWhetherAPodHasStartedAndEnded(t *testing.T) {
	runs := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	waits := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}
	ends := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	for name, tc := range map[string]struct {
		node           string
		deleted        bool
		phase          corev1.PodPhase
		lost           string // why it is a DisruptionTarget
		containers     []corev1.ContainerStatus
		started, ended bool
	}{
		"it waits for a node":                           {},
		"it is deleted before it gets one":              {deleted: true, ended: true},
		"it has a node":                                 {node: "node"},
		"it waits for its image":                        {node: "node", containers: []corev1.ContainerStatus{waits}},
		"it is deleted then: it may start all the same": {node: "node", deleted: true, containers: []corev1.ContainerStatus{waits}},
		"it runs":                 {node: "node", containers: []corev1.ContainerStatus{runs}, started: true},
		"it is deleted, and runs": {node: "node", deleted: true, containers: []corev1.ContainerStatus{runs}, started: true},
		"it has ended":            {node: "node", containers: []corev1.ContainerStatus{ends}, started: true, ended: true},
		"its node is lost, and the garbage collector wrote": {node: "node", phase: corev1.PodFailed, lost: "DeletionByPodGC", deleted: true, containers: []corev1.ContainerStatus{runs}, started: true},
		"nobody knows of its container":                     {node: "node", phase: corev1.PodFailed, lost: "DeletionByPodGC", deleted: true},
		"it has ended, and then its node was lost":          {node: "node", phase: corev1.PodFailed, lost: "DeletionByPodGC", deleted: true, containers: []corev1.ContainerStatus{ends}, started: true, ended: true},
		"its node is out of service":                        {node: "node", phase: corev1.PodFailed, deleted: true, containers: []corev1.ContainerStatus{runs}, started: true, ended: true},
		"the kubelet has rejected it":                       {node: "node", phase: corev1.PodFailed, ended: true},
		"a container of a webhook has failed before ours":   {node: "node", phase: corev1.PodFailed, containers: []corev1.ContainerStatus{waits}, ended: true},
		"it was evicted, and has ended":                     {node: "node", phase: corev1.PodFailed, lost: "TerminationByKubelet", deleted: true, ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: tc.node, Containers: make([]corev1.Container, 1)}}
			pod.Status = corev1.PodStatus{Phase: tc.phase, Conditions: []corev1.PodCondition{{Type: corev1.DisruptionTarget, Reason: tc.lost}}, ContainerStatuses: tc.containers}
			if tc.deleted {
				pod.DeletionTimestamp = &metav1.Time{}
			}
			_, err := trimPod(pod)
			require.NoError(t, err)
			assert.Equal(t, tc.started, started(pod), "started")
			assert.Equal(t, tc.ended, ended(pod), "ended")
		})
	}
}

func TestHowLongNobodyNeedsToLook(t *testing.T) {
	for name, tc := range map[string]struct {
		status   postgres.PostgresClusterStatus
		paused   bool
		decision plan.Action
		want     time.Duration
	}{
		"something was done":               {decision: plan.SetRole, want: time.Millisecond},
		"all is well":                      {status: postgres.PostgresClusterStatus{Phase: postgres.Running, Replicas: 2, Synced: []string{"a", "b"}}, want: whileSettled},
		"a member is missing":              {status: postgres.PostgresClusterStatus{Phase: postgres.Running, Replicas: 1, Synced: []string{"a", "b"}}, want: whileUnsettled},
		"commits wait for nobody":          {status: postgres.PostgresClusterStatus{Phase: postgres.Running, Replicas: 2, Synced: []string{"a"}}, want: whileUnsettled},
		"there is an election":             {status: postgres.PostgresClusterStatus{Phase: postgres.Electing}, want: whileLeaderless},
		"a primary is awaited":             {status: postgres.PostgresClusterStatus{Phase: postgres.Promoting}, want: whileLeaderless},
		"a person is awaited":              {status: postgres.PostgresClusterStatus{Phase: postgres.Unsafe}, want: whileSettled},
		"the first member waits for a pod": {status: postgres.PostgresClusterStatus{Phase: postgres.Seeding}, want: whileUnsettled},
		"pods end":                         {status: postgres.PostgresClusterStatus{Phase: postgres.Deleting}, want: whileUnsettled},
		"the spec cannot be had":           {want: whileSettled},
		"it is paused in an election":      {status: postgres.PostgresClusterStatus{Phase: postgres.Electing}, paused: true, want: whileSettled},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(func(s *postgres.PostgresClusterSpec) { s.Size, s.Paused = 2, tc.paused })
			c.Status = tc.status
			assert.Equal(t, tc.want, pause(plan.Observed{Cluster: c}, plan.Decision{Action: tc.decision}))
		})
	}
}

// Addresses are used again.
func TestOnlyTheAgentOfThePodIsBelieved(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	a := e.agents["db-1"]
	address := statusAddress(e.pod("db-1"))
	_, err := e.operator.report(t.Context(), address, a.uid)
	require.NoError(t, err)
	_, err = e.operator.report(t.Context(), address, "another")
	require.ErrorContains(t, err, "is the address of pod "+string(a.uid))
	e.change(func() { a.silent = true })
	_, err = e.operator.report(t.Context(), address, a.uid)
	assert.ErrorContains(t, err, http.StatusText(http.StatusServiceUnavailable))
}

// What the primary says of a standby has to be newer than what that says itself.
func TestThePrimaryIsAskedLast(t *testing.T) {
	e := newEnv(t)
	e.create(3)
	e.settle()
	e.change(func() { e.asked = nil })
	e.observe()
	e.change(func() {
		require.Len(t, e.asked, 3)
		assert.Equal(t, "db-1", e.asked[2])
	})
}

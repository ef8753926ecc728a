package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"example.com/hacking-a-controller/testcluster"
)

// managers are the pods of the manager that are not on their way out.
func (l *lab) managers() []corev1.Pod {
	pods, err := l.client.CoreV1().Pods(system).List(l.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=manager"})
	if err != nil {
		return nil
	}
	var live []corev1.Pod
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			live = append(live, pod)
		}
	}
	return live
}

// lease is empty as long as it is not known.
func (l *lab) lease() coordinationv1.LeaseSpec {
	lease, err := l.client.CoordinationV1().Leases(system).Get(l.t.Context(), leaseName, metav1.GetOptions{})
	if err != nil {
		return coordinationv1.LeaseSpec{}
	}
	return lease.Spec
}

// leader is who has the Lease: the name of a pod, and of the process in it.
func (l *lab) leader() string { return ptr.Deref(l.lease().HolderIdentity, "") }

// leaderPod is the pod of the leader.
func (l *lab) leaderPod() corev1.Pod {
	l.t.Helper()
	var found corev1.Pod
	l.eventually("the pod of the leader", func() string {
		name, _, _ := strings.Cut(l.leader(), "_")
		for _, pod := range l.managers() {
			if pod.Name == name {
				found = pod
				return ""
			}
		}
		return "the leader has no pod: " + name
	})
	return found
}

// leads waits until another leads than before, in a pod of its own.
func (l *lab) leads(before string) {
	l.t.Helper()
	was, _, _ := strings.Cut(before, "_")
	l.eventually("another leader", func() string {
		if is, _, _ := strings.Cut(l.leader(), "_"); is == "" || is == was {
			return l.leader()
		}
		return ""
	})
}

// rolledOut waits until all managers are of this version, and ready.
func (l *lab) rolledOut(version string) {
	l.t.Helper()
	l.kubectl("rollout", "status", "deployment/"+manager, "-n", system, timeout)
	l.eventually("all managers to be "+version, func() string {
		for _, pod := range l.managers() {
			if image := pod.Spec.Containers[0].Image; !strings.HasSuffix(image, ":"+version) {
				return image
			}
		}
		return ""
	})
}

// kill kills a process as soon as there is one other than the last, and returns its
// number.
func (l *lab) kill(last int, words ...string) int {
	l.t.Helper()
	pid := l.process(last, words...)
	require.NoError(l.t, syscall.Kill(pid, syscall.SIGKILL))
	return pid
}

// freeze lets a process do nothing until the function that it returns is called.
func (l *lab) freeze(words ...string) (thaw func()) {
	l.t.Helper()
	pid := l.process(0, words...)
	require.NoError(l.t, syscall.Kill(pid, syscall.SIGSTOP))
	thaw = sync.OnceFunc(func() {
		if err := syscall.Kill(pid, syscall.SIGCONT); !errors.Is(err, syscall.ESRCH) { // somebody has killed it
			assert.NoError(l.t, err)
		}
	})
	l.t.Cleanup(thaw)
	return thaw
}

// process waits for the only process whose command line has all of these words, and
// which is not the last one.
func (l *lab) process(last int, words ...string) int {
	l.t.Helper()
	var found []int
	l.eventually("one process", func() string {
		found = slices.DeleteFunc(l.processes(words), func(pid int) bool { return pid == last })
		if len(found) != 1 {
			return fmt.Sprintf("there are %d with %q", len(found), words)
		}
		return ""
	})
	return found[0]
}

func (l *lab) processes(words []string) []int {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), testcluster.TestTimeout)
	defer cancel()
	list, err := exec.CommandContext(ctx, "ps", "-axww", "-o", "pid=,args=").Output()
	require.NoError(l.t, err)
	var found []int
	for line := range strings.Lines(string(list)) {
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			continue
		}
		pid, err := strconv.Atoi(strings.Fields(line)[0])
		require.NoError(l.t, err)
		found = append(found, pid)
	}
	return found
}

// addressOf is an argument of the manager in this pod.
func addressOf(pod corev1.Pod) string { return fmt.Sprintf("[%s]:8443", pod.Status.PodIP) }

func killed(t *testing.T, l *lab) {
	o := l.startLoad(t, "killed", 1)
	o.atLeast(3)
	before, pod := l.leader(), l.leaderPod()
	// The node starts it again at once, and it might win the Lease. So kill it once
	// more: then the node waits, and the standby has its turn.
	l.kill(l.kill(0, "/manager", addressOf(pod)), "/manager", addressOf(pod))
	l.leads(before)
	o.finish()
	l.rolledOut(older)
}

func evicted(t *testing.T, l *lab) {
	o := l.startLoad(t, "evicted", 1)
	o.atLeast(3)
	before, pod := l.leader(), l.leaderPod()
	require.NoError(t, l.client.PolicyV1().Evictions(system).Evict(t.Context(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: pod.Name},
	}))
	l.leads(before)
	o.finish()
	l.rolledOut(older)
	assert.Len(t, l.managers(), 2)
}

func serverRestarted(t *testing.T, l *lab) {
	o := l.startLoad(t, "restarted", 1)
	o.atLeast(3)
	// While it starts, its discovery lists no CRD. A namespace that is deleted meanwhile goes,
	// and leaves its Ats behind forever: kubernetes/kubernetes#49027.
	l.eventually("the namespaces of other chapters to go", func() string {
		return l.kubectl("get", "namespaces", "-o", `jsonpath={.items[?(@.metadata.deletionTimestamp)].metadata.name}`)
	})
	l.kill(0, "kube-apiserver", l.dir)
	o.atLeast(len(o.complete()) + 3)
	o.finish()
	l.rolledOut(older)
}

func upgraded(t *testing.T, l *lab) {
	o := l.startLoad(t, "upgraded", 1)
	o.atLeast(3)
	l.leavesAlone("quay", func() {
		l.apply(dist(t, newer, highlyAvailable))
		l.rolledOut(newer)
	})
	o.finish()
}

// rolledBack does as the runbooks say.
func rolledBack(t *testing.T, l *lab) {
	o := l.startLoad(t, "rolled-back", 1)
	o.atLeast(3)
	l.leavesAlone("quay", func() {
		l.kubectl("rollout", "undo", "deployment/"+manager, "-n", system)
		l.rolledOut(older)
	})
	o.finish()
}

// leavesAlone asserts that the Ats of a namespace are the same afterwards.
func (l *lab) leavesAlone(namespace string, during func()) {
	l.t.Helper()
	versions := func() map[string]string {
		ats, err := l.ats.CnatV1alpha1().Ats(namespace).List(l.t.Context(), metav1.ListOptions{})
		require.NoError(l.t, err)
		require.NotEmpty(l.t, ats.Items)
		found := map[string]string{}
		for _, at := range ats.Items {
			found[at.Name] = at.ResourceVersion
		}
		return found
	}
	before := versions()
	during()
	assert.Equal(l.t, before, versions())
}

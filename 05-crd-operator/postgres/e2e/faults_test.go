package e2e

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fault is something that goes wrong.
type fault struct {
	what string
	// Exactly one of these. This one ends the pod of a member, unless it returns an error.
	member func(e *env, name string, pod types.UID) error
	node   func(e *env)
}

var faults = []fault{
	{what: "PostgreSQL is killed", member: func(e *env, _ string, pod types.UID) error { return e.killPostgreSQL(pod) }},
	{what: "the agent is killed", member: func(e *env, _ string, pod types.UID) error { return e.signalAgent(pod, syscall.SIGKILL) }},
	{what: "the agent is frozen", member: func(e *env, _ string, pod types.UID) error { return e.signalAgent(pod, syscall.SIGSTOP) }},
	{what: "the pod is deleted", member: func(e *env, name string, pod types.UID) error { return e.deletePod(name, pod) }},
	{what: "the pod is deleted by force", member: func(e *env, name string, pod types.UID) error {
		return e.deletePod(name, pod, client.GracePeriodSeconds(0))
	}},
	{what: "the operator is killed, then the agent", member: func(e *env, _ string, pod types.UID) error {
		e.killOperator()
		defer e.startOperator()
		return e.signalAgent(pod, syscall.SIGKILL)
	}},
	{what: "the kubelet is killed", node: func(e *env) { e.killComponent(e, "kubelet") }},
	{what: "the API server is killed", node: func(e *env) { e.killComponent(e, "kube-apiserver") }},
}

func (e *env) deletePod(name string, uid types.UID, options ...client.DeleteOption) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name}}
	return e.client.Delete(e.Context(), pod, append(options, client.Preconditions{UID: &uid})...)
}

// usualSeed is one whose first five faults hit the operator, the kubelet, the API server and, three
// times, the primary.
const usualSeed = 106

// TestFaults has one thing after the other go wrong, as SEED decides. FAULTS is how many.
func TestFaults(t *testing.T) {
	seed, many := number(t, "SEED", usualSeed), number(t, "FAULTS", 5)
	t.Logf("SEED=%d FAULTS=%d", seed, many)
	random := rand.New(rand.NewPCG(uint64(seed), 0))

	e := newCluster(t)
	writer, watcher := e.startWriter(), e.startWatcher()
	var order []int // no fault comes again before all others have come
	for range many {
		if len(order) == 0 {
			order = random.Perm(len(faults))
		}
		e.inject(faults[order[0]], random)
		order = order[1:]
		watcher.sees(e.settles().PrimaryUID)
		writer.goesOn()
	}
	assert.Empty(t, writer.loses(), "acknowledged rows that are lost")
	e.deleteCluster()
}

// inject has something go wrong, and waits until it has had its effect. The primary is hit as often
// as all others together.
func (e *env) inject(f fault, random *rand.Rand) {
	e.Helper()
	if f.node != nil {
		e.Log(f.what)
		f.node(e)
		return
	}
	victim := random.IntN(4)
	var member string
	var pod types.UID
	eventually(e, f.what, func() error { // on a busy machine, there may be another primary by now
		status := e.status()
		others := standbys(status)
		if status.Primary == "" || len(others) < 2 {
			return errors.New("a member is missing")
		}
		member = append(others, status.Primary, status.Primary)[victim]
		pod = e.pods()[member]
		e.Logf("%s: %s, and the primary is %s", f.what, member, status.Primary)
		return f.member(e, member, pod)
	})
	e.replaced(member, pod, e.pods)
}

// number is the value of a variable of the environment.
func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), strconv.Itoa(otherwise)))
	require.NoError(t, err, "%s is no number", variable)
	return n
}

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// fault is something that goes wrong. It begins, and what that returns, if anything, ends it.
type fault struct {
	what  string
	hits  []role // one of these; nobody, if there is none
	begin func(c *chaos, v victim) (end func(), err error)
}

// role is what a member is when a fault begins.
type role string

const (
	primary role = "the primary"
	synced  role = "the synced standby"
	third   role = "the other standby"
)

var (
	anybody = []role{primary, synced, third}
	standby = []role{synced, third}
)

// victim is a member that a fault hits.
type victim struct {
	name string
	pod  types.UID
}

// noConnections is what an agent ends after ten seconds, and so it lasts longer than any other fault.
const noConnections = "PostgreSQL takes no connections"

// faults are what goes wrong at random. Each comes to an end, and none takes more than one disk.
var faults = []fault{
	{"PostgreSQL is killed", anybody, killed(processList.postgreSQL)},
	{noConnections, anybody, frozen(processList.postgreSQL)},
	{"the agent is killed", anybody, killed(processList.agent)},
	{"the agent is frozen", anybody, frozen(processList.agent)},
	{"the receiver is frozen", standby, frozen(processList.receiver)},
	{"the pod is deleted", anybody, podDeleted()},
	{"the pod is deleted by force", anybody, podDeleted(client.GracePeriodSeconds(0))},
	{"the label of the pod is taken off", anybody, (*chaos).labelOff},
	{"the disk is deleted while much is written", []role{third}, (*chaos).diskDeletedUnderLoad},
	{"a query reads for long", standby, (*chaos).longRead},
	{"the disk of the backups is broken", nil, (*chaos).backupsBroken},
	{"the operator is killed", nil, (*chaos).operatorKilled},
	{"the operator is frozen", nil, (*chaos).operatorFrozen},
	{"the kubelet is killed", nil, componentKilled("kubelet")},
	{"the API server is killed", nil, componentKilled("kube-apiserver")},
	{"the API server is frozen", nil, (*chaos).apiServerFrozen},
}

// lethal are those that can end the primary: there is one in each plan.
var lethal = slices.DeleteFunc(slices.Clone(faults), func(f fault) bool {
	return !slices.Contains([]string{"PostgreSQL is killed", "the agent is killed", "the agent is frozen", "the pod is deleted", "the pod is deleted by force"}, f.what)
})

// planned is a fault, whom it hits, when, and for how long.
type planned struct {
	fault
	hits      role // empty if it hits nobody
	at, lasts time.Duration
}

func (p planned) String() string {
	return strings.TrimSuffix(fmt.Sprintf("at %.1f s, for %.1f s: %s: %s", p.at.Seconds(), p.lasts.Seconds(), p.what, p.hits), ": ")
}

// planFaults returns one or two faults of any kind, and one that can end the primary, in the order of
// their begins. They overlap more often than not.
func planFaults(seed uint64) []planned {
	random := rand.New(rand.NewPCG(seed, 0))
	some := func(f fault) planned {
		p := planned{fault: f, at: within(random, time.Second, 5*time.Second), lasts: within(random, time.Second, 7*time.Second)}
		if len(f.hits) > 0 {
			p.hits = f.hits[random.IntN(len(f.hits))]
		}
		if f.what == noConnections {
			p.lasts += 10 * time.Second
		}
		return p
	}
	var plan []planned
	for _, n := range random.Perm(len(faults))[:1+random.IntN(2)] {
		plan = append(plan, some(faults[n]))
	}
	end := some(lethal[random.IntN(len(lethal))])
	end.hits = primary
	plan = append(plan, end)
	slices.SortFunc(plan, func(a, b planned) int { return int(a.at - b.at) })
	return plan
}

func within(random *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(random.Int64N(int64(to-from)))
}

func TestPlansOfFaults(t *testing.T) {
	t.Parallel()
	missing := map[string]bool{}
	for _, f := range faults {
		missing[f.what] = true
	}
	for seed := range uint64(200) {
		plan := planFaults(seed)
		assert.Equal(t, fmt.Sprint(plan), fmt.Sprint(planFaults(seed)), "the same seed, the same plan")
		for _, p := range plan {
			delete(missing, p.what)
		}
		assert.True(t, slices.ContainsFunc(plan, func(p planned) bool { return p.hits == primary }), "%v", plan)
	}
	assert.Empty(t, missing, "no plan of 200 has them")
}

// breaks has things go wrong as planned, and returns when all of them have come to their end.
func (c *chaos) breaks(plan []planned) {
	c.Helper()
	type moment struct {
		at time.Duration
		do func()
	}
	var moments []moment
	for _, p := range plan {
		end := func() {}
		moments = append(moments, moment{p.at, func() {
			if begun := c.begins(p); begun != nil {
				end = sync.OnceFunc(begun)
				c.Cleanup(end) // in case the test fails before
			}
		}}, moment{p.at + p.lasts, func() { end() }})
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return int(a.at - b.at) })
	_, _ = c.find(primary) // later, the API server may be away
	begun := time.Now()
	for _, m := range moments {
		select {
		case <-c.Context().Done():
		case <-time.After(m.at - time.Since(begun)): // the plan is about times
		}
		m.do()
	}
}

// begins begins a fault. It may be impossible because of another one, which is fault enough.
func (c *chaos) begins(p planned) (end func()) {
	var v victim
	var err error
	if p.hits != "" {
		v, err = c.find(p.hits)
	}
	if err == nil {
		end, err = p.begin(c, v)
	}
	c.Logf("%s: %s (%s) %v", p.what, p.hits, v.name, err)
	return end
}

// shortly is for what needs the API server, which may be frozen.
func (e *env) shortly() (context.Context, context.CancelFunc) {
	return context.WithTimeout(e.Context(), 2*time.Second) // luck: a try of many
}

// find finds the member that has a role, or had it when the API server was last there.
func (c *chaos) find(r role) (victim, error) {
	if now, err := c.roles(); err == nil {
		c.known = now
	}
	v, ok := c.known[r]
	if !ok {
		return v, errors.New("nobody is that now")
	}
	return v, nil
}

func (c *chaos) roles() (map[role]victim, error) {
	ctx, cancel := c.shortly()
	defer cancel()
	cluster, pods := &postgres.PostgresCluster{}, &corev1.PodList{}
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, cluster); err != nil {
		return nil, err
	}
	if err := c.client.List(ctx, pods, client.InNamespace(c.namespace)); err != nil {
		return nil, err
	}
	names := append([]string{cluster.Status.Primary}, standbys(cluster.Status)...)
	found := map[role]victim{}
	for n, role := range []role{primary, synced, third} {
		for _, pod := range pods.Items {
			if n < len(names) && pod.Name == names[n] {
				found[role] = victim{pod.Name, pod.UID}
			}
		}
	}
	return found, nil
}

func killed(find func(processList, types.UID) (int, error)) func(*chaos, victim) (func(), error) {
	return func(c *chaos, v victim) (func(), error) { return nil, c.signal(v.pod, find, syscall.SIGKILL) }
}

func frozen(find func(processList, types.UID) (int, error)) func(*chaos, victim) (func(), error) {
	return func(c *chaos, v victim) (func(), error) { return c.freeze(v.pod, find) }
}

func podDeleted(options ...client.DeleteOption) func(*chaos, victim) (func(), error) {
	return func(c *chaos, v victim) (func(), error) { return nil, c.deletePod(v.name, v.pod, options...) }
}

func (e *env) deletePod(name string, uid types.UID, options ...client.DeleteOption) error {
	ctx, cancel := e.shortly()
	defer cancel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name}}
	return e.client.Delete(ctx, pod, append(options, client.Preconditions{UID: &uid})...)
}

func componentKilled(name string) func(*chaos, victim) (func(), error) {
	return func(c *chaos, _ victim) (func(), error) { c.killComponent(c, name); return nil, nil }
}

func (c *chaos) apiServerFrozen(victim) (func(), error) {
	now, err := c.component("kube-apiserver")
	if err != nil {
		return nil, err
	}
	return func() { _ = syscall.Kill(now.PID, syscall.SIGCONT) }, syscall.Kill(now.PID, syscall.SIGSTOP)
}

func (c *chaos) operatorKilled(victim) (func(), error) {
	if c.operator == nil {
		return nil, errors.New("there is no operator")
	}
	c.killOperator()
	return c.startOperator, nil
}

func (c *chaos) operatorFrozen(victim) (func(), error) {
	if c.operator == nil {
		return nil, errors.New("there is no operator")
	}
	operator := c.operator
	return func() { _ = operator.signal(syscall.SIGCONT, false) }, operator.signal(syscall.SIGSTOP, false)
}

package operator

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testrights"
	"example.com/hacking-a-controller/testcluster"
)

// startOperator runs the operator as a program does, with a clock that runs, until the test ends.
func (e *env) startOperator(config *rest.Config) *testrights.Requests {
	e.Helper()
	r, _ := e.startOperatorWith(config, e.options())
	return r
}

// startOperatorWith returns a function that stops it earlier, too.
func (e *env) startOperatorWith(config *rest.Config, o Options) (r *testrights.Requests, stop func()) {
	e.Helper()
	r = &testrights.Requests{}
	config = rest.CopyConfig(config)
	config.QPS = -1
	r.Watch(config)
	mgr, err := newManager(klog.NewContext(e.Context(), logr.Discard()), config, o)
	require.NoError(e, err)
	operator := NewReconciler(mgr, o)
	operator.agents = e.dialer()
	_, stop = testcluster.Run(e, func(ctx context.Context) error {
		return start(klog.NewContext(ctx, logr.Discard()), mgr, operator)
	})
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
	requests.Take()
	e.kill("db-1")
	e.eventually(func() bool { return len(requests.All()) > 4 }) // in vain
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

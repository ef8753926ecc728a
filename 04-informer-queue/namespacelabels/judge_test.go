// The judge of the exercise your-own builds the program, or takes the one that the variable
// PROGRAM names, and runs it against an API server.
//
//	judge_test.go   what the program has to do
//	env_test.go     the cluster, the program, and waiting
//	proxy_test.go   the program's requests to the API server, and the faults
//
// The judge measures no durations. It waits for an expected change until that is there, or
// until the program no longer does anything. To find an unwanted change, it first waits until
// the program has acted on a later one.
package main_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

func TestItRunsUntilItIsStopped(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		e := newEnv(t)
		e.start()
		e.stop(signal)
	}
}

func TestANamespaceThatAsksHasAConfigMap(t *testing.T) {
	e := newEnv(t)
	e.namespace("silent", map[string]string{"example.com/other": ""}, nil)
	e.namespace("before", asking, map[string]string{"team": "coast"})
	e.start()
	e.reach("before")
	e.namespace("after", asking, map[string]string{"team": "harbour", "example.com/tier": ""})
	e.reach("after")
	e.namespace("later", nil, nil)
	e.change("later", "annotations", annotation, `"true"`)
	e.reach("later")
	assert.Nil(t, e.get("silent"), "namespace silent does not ask for a ConfigMap, but has one")
}

// The program remembers what it has read: neither many namespaces nor many changes are a
// reason to list them again.
func TestManyNamespacesNeedFewRequests(t *testing.T) {
	const many = 30
	e := newEnv(t)
	for i := range many {
		e.namespace(fmt.Sprintf("n%d", i), asking, map[string]string{"number": fmt.Sprint(i)})
	}
	e.start()
	for i := range many {
		e.reach(fmt.Sprintf("n%d", i))
	}
	began := len(e.proxy.all())
	for i := range many {
		e.namespace(fmt.Sprintf("m%d", i), asking, nil)
		e.reach(fmt.Sprintf("m%d", i))
	}
	const few = 10
	assert.LessOrEqual(t, len(e.proxy.sent(0, "LIST", "")), few, "it lists too often")
	assert.LessOrEqual(t, len(e.proxy.sent(0, "WATCH", "")), few, "it watches too often")
	assert.LessOrEqual(t, len(e.proxy.sent(began, "GET", "")), 3*many, "it reads too often")
	for i := range many {
		assert.Len(t, e.proxy.accepted(0, fmt.Sprintf("n%d", i)), 1, "it must write each ConfigMap once")
	}
}

func TestItFollowsTheLabels(t *testing.T) {
	e := withHarbour(t)
	for _, change := range [][2]string{{"tier", `"gold"`}, {"tier", `"silver"`}, {"empty", `""`}, {"team", "null"}, {"tier", "null"}} {
		began := len(e.proxy.all())
		e.change("harbour", "labels", change[0], change[1])
		e.reach("harbour")
		assert.LessOrEqual(t, len(e.proxy.accepted(began, "harbour")), 1, "it writes more than once for one change")
	}
}

func TestItHealsTheConfigMap(t *testing.T) {
	e := withHarbour(t)
	for name, patch := range map[string]string{
		"a value":       `{"data":{"labels":"forged"}}`,
		"one key more":  `{"data":{"more":"forged"}}`,
		"no data":       `{"data":null}`,
		"another label": `{"metadata":{"labels":{"owner":"somebody"}},"data":null}`,
	} {
		began := len(e.proxy.all())
		e.edit("harbour", patch)
		e.reach("harbour")
		assert.LessOrEqual(t, len(e.proxy.accepted(began, "harbour")), 1, "%s: it writes more than once for one change", name)
	}
	assert.Equal(t, "somebody", e.get("harbour").Labels["owner"], "it removes the label that another client added to the ConfigMap")
	e.remove("harbour")
	e.reach("harbour")
}

func TestItDoesNotWriteWithoutAReason(t *testing.T) {
	e := withHarbour(t)
	began := len(e.proxy.all())
	for i := range 10 {
		e.change("harbour", "annotations", "example.com/other", fmt.Sprintf("%q", fmt.Sprint(i)))
		e.edit("harbour", fmt.Sprintf(`{"metadata":{"annotations":{"example.com/other":"%d"}}}`, i))
	}
	for _, value := range []string{`"6"`, `"7"`} {
		e.change("harbour", "labels", "e", value)
		e.reach("harbour")
	}
	assert.LessOrEqual(t, len(e.proxy.accepted(began, "harbour")), 2, "only the labels changed, twice, but it wrote more often")
}

func TestItRemovesWhatIsNotAskedFor(t *testing.T) {
	e := withHarbour(t)
	e.change("harbour", "annotations", annotation, "null")
	e.reach("harbour")
	e.change("harbour", "annotations", annotation, `""`)
	e.reach("harbour")
}

func TestItLeavesAloneWhatIsNotItsOwn(t *testing.T) {
	e := newEnv(t)
	e.namespace("harbour", asking, nil)
	e.namespace("coast", nil, nil)
	foreign := map[string]*corev1.ConfigMap{"harbour": e.foreign("harbour"), "coast": e.foreign("coast")}
	e.start()
	e.turn()
	e.change("coast", "annotations", annotation, `""`)
	for _, namespace := range []string{"harbour", "coast"} {
		e.change(namespace, "labels", "team", `"coast"`)
	}
	e.turn()
	for _, namespace := range []string{"harbour", "coast"} {
		e.change(namespace, "annotations", annotation, "null")
	}
	e.turn()
	for namespace, before := range foreign {
		have := e.get(namespace)
		require.NotNil(t, have, "it deleted the ConfigMap of somebody else")
		assert.Equal(t, before.Data, have.Data, "it overwrote the ConfigMap of somebody else")
		assert.Equal(t, before.ResourceVersion, have.ResourceVersion, "it wrote to the ConfigMap of somebody else")
		assert.LessOrEqual(t, len(e.proxy.writes(0, namespace)), 5, "it keeps trying to write to the ConfigMap of somebody else")
	}

	e.change("harbour", "annotations", annotation, `""`)
	e.remove("harbour")
	e.reach("harbour")
}

// After a start, the program finds by comparison what changed while it was down. If nothing
// did, it writes nothing.
func TestItIsStoppedAndStarted(t *testing.T) {
	e := newEnv(t)
	down(e, func() func() { e.kill(); return e.start })
	e.stop(syscall.SIGTERM)
	began := len(e.proxy.all())
	e.start()
	e.turn()
	for _, namespace := range []string{"same", "labels", "data", "deleted", "later"} {
		assert.Empty(t, e.proxy.writes(began, namespace), "nothing has changed, but it writes after a start")
	}
}

func TestTheConnectionIsCut(t *testing.T) {
	e := newEnv(t)
	down(e, e.proxy.hold)
}

// The server no longer has the events since the connection was cut: error 410.
func TestTheVersionIsTooOld(t *testing.T) {
	e := newEnv(t)
	down(e, func() func() {
		release := e.proxy.hold()
		return func() {
			all, err := e.client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{Limit: 1})
			require.NoError(t, err)
			e.proxy.forget(all.ResourceVersion)
			release()
		}
	})
}

// down makes changes while the program, or its connection, is down.
func down(e *env, goDown func() (comeBack func())) {
	e.t.Helper()
	for _, name := range []string{"same", "labels", "data", "deleted", "unasked"} {
		e.namespace(name, asking, map[string]string{"team": "coast"})
	}
	e.namespace("later", nil, nil)
	e.start()
	e.reach("same", "labels", "data", "deleted", "unasked")
	comeBack := goDown()
	began := len(e.proxy.all())
	e.change("labels", "labels", "team", `"harbour"`)
	e.edit("data", `{"data":{"labels":"forged"}}`)
	e.remove("deleted")
	e.change("unasked", "annotations", annotation, "null")
	e.change("later", "annotations", annotation, `""`)
	comeBack()
	e.reach("later", "same", "labels", "data", "deleted", "unasked")
	e.turn()
	assert.Empty(e.t, e.proxy.writes(began, "same"), "nothing has changed in namespace same, but it writes")
	assert.LessOrEqual(e.t, len(e.proxy.sent(began, "LIST", "")), 10, "it lists too often")
}

// The server answers a create with 409 or 404 when its namespace has a ResourceQuota that changes or is
// deleted at that moment. No event of a ConfigMap follows.
func TestAWriteThatFailsIsTriedAgain(t *testing.T) {
	e := newEnv(t)
	e.start()
	for _, status := range []int{500, 409, 404} {
		namespace := fmt.Sprintf("refused-%d", status)
		e.proxy.once("POST", namespace, func() int { return status })
		e.namespace(namespace, asking, nil)
		e.reach(namespace)
	}
}

// The server refuses to change the data of an immutable ConfigMap, and to make it mutable again.
func TestAnImmutableConfigMapIsReplaced(t *testing.T) {
	e := withHarbour(t)
	e.edit("harbour", `{"immutable":true,"data":{"labels":"forged"}}`)
	e.reach("harbour")
	e.edit("harbour", `{"immutable":true}`)
	e.change("harbour", "labels", "team", `"harbour"`)
	e.reach("harbour")
}

// Another client labels the ConfigMap after the program has read it.
func TestTheConfigMapChangesBeforeItIsUpdated(t *testing.T) {
	e := withHarbour(t)
	e.proxy.once("PUT PATCH", "harbour", func() int {
		e.edit("harbour", `{"metadata":{"labels":{"owner":"somebody"}}}`)
		return 0
	})
	e.change("harbour", "labels", "team", `"harbour"`)
	e.reach("harbour")
	e.turn()
	assert.Equal(t, "somebody", e.get("harbour").Labels["owner"], "it removes the label that another client added to the ConfigMap")
}

// Another client replaces the program's ConfigMap with its own, after the program has decided
// to delete it.
func TestAnotherConfigMapComesBeforeItIsDeleted(t *testing.T) {
	e := withHarbour(t)
	e.proxy.once("DELETE", "harbour", func() int {
		e.remove("harbour")
		e.foreign("harbour")
		return 0
	})
	e.change("harbour", "annotations", annotation, "null")
	e.reach("harbour")
	e.turn()
	assert.NotNil(t, e.get("harbour"), "it deleted the ConfigMap of somebody else")
}

// Nothing can be created in a namespace that is being deleted. When it is gone, a new one may
// have the same name.
func TestANamespaceIsDeleted(t *testing.T) {
	e := withHarbour(t)
	require.NoError(t, e.client.CoreV1().Namespaces().Delete(t.Context(), "harbour", metav1.DeleteOptions{}))
	e.turn()
	began := len(e.proxy.all())
	e.remove("harbour")
	e.turn()
	assert.Empty(t, e.proxy.writes(began, "harbour"), "it writes into a namespace that is being deleted")
	require.NoError(t, e.finish(t.Context(), "harbour"))
	e.namespace("harbour", asking, map[string]string{"team": "harbour"})
	e.reach("harbour")
}

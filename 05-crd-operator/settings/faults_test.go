package settings

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

func TestFaults(t *testing.T) {
	w := sharedWorld(t)
	for name, run := range map[string]func(*env){
		"the ConfigMap changes just before it is applied":    changedBeforeApply,
		"the ConfigMap is deleted just before it is applied": deletedBeforeApply,
		"the ConfigMap changes just before it is deleted":    changedBeforeDelete,
		"somebody's ConfigMap comes just before ours":        takenBeforeApply,
		"two operators at once":                              twoOperators,
		"nothing differs":                                    nothingDiffers,
		"the server refuses the ConfigMap for a while":       quota,
		"the namespace begins to end":                        namespaceEnds,
		"drift is logged as such":                            driftIsLogged,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(w.newEnv(t, name))
		})
	}
}

// aboutToApply is an operator that has a red colour to apply, and does so when others have done
// something to the ConfigMap, which its cache does not have.
func aboutToApply(s *env, others func()) *ledger {
	s.layer("defaults", 0, data{"colour": "blue"})
	stop := s.start()
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	stop()
	s.patchLayer("defaults", `{"spec":{"data":{"colour":"red"}}}`)
	requests := &ledger{}
	s.start(before("PATCH", "configmaps/settings", others), requests.watch)
	s.becomes(state{"settings": "colour=red; of defaults", "defaults": "True Merged 2"})
	return requests
}

func changedBeforeApply(s *env) {
	requests := aboutToApply(s, func() { s.edit(`{"metadata":{"annotations":{"note":"kept"}}}`) })
	assert.Equal(s.t, "PATCH 409 configmaps/settings", requests.Lines()[0])
	assert.Equal(s.t, "kept", s.get().Annotations["note"])
}

func deletedBeforeApply(s *env) { aboutToApply(s, s.delete) }

// changedBeforeDelete shows that what is deleted is what was observed: here it becomes
// somebody else's in the last moment.
func changedBeforeDelete(s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	requests := &ledger{}
	s.start(before("DELETE", "configmaps/settings", func() { s.edit(`{"metadata":{"ownerReferences":null}}`) }), requests.watch)
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	s.deleteLayer("defaults")
	s.eventually(func() bool { return slices.Contains(requests.Lines(), "DELETE 409 configmaps/settings") })
	s.layer("site", 0, data{"colour": "green"})
	s.becomes(state{"settings": "colour=blue; of ", "site": "False NameTaken 0"})
}

func takenBeforeApply(s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	s.start(before("PATCH", "configmaps/settings", func() { assert.NoError(s.t, s.create(data{"theirs": "yes"})) }))
	s.becomes(state{"settings": "theirs=yes; not labelled; of ", "defaults": "False NameTaken 0"})
}

func twoOperators(s *env) {
	s.start()
	s.start()
	s.layer("defaults", 0, data{"colour": "blue"})
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	s.layer("site", 10, data{"colour": "green"})
	for i := range 10 {
		s.patchLayer("site", fmt.Sprintf(`{"spec":{"data":{"colour":"c%d"}}}`, i))
		s.edit(`{"data":{"colour":"forged"}}`)
	}
	s.becomes(state{
		"settings": "colour=c9; of defaults, site",
		"defaults": "False Overridden 1, colour by site", "site": "True Merged 11",
	})
	s.recorded("defaults Normal Merged: the ConfigMap settings has all settings of this layer",
		"defaults Warning Overridden: the ConfigMap settings has no setting of this layer, not colour (that of site has won)",
		"site Normal Merged: the ConfigMap settings has all settings of this layer")
}

func nothingDiffers(s *env) {
	good := twoLayers(s)

	// A second operator finds all done. Each of these leads to a reconcile, or to none.
	requests := &ledger{}
	stop := s.start(requests.watch)
	s.edit(`{"metadata":{"annotations":{"note":"kept"},"labels":{"team":"coast"}}}`)
	s.patchLayer("site", `{"metadata":{"labels":{"team":"coast"}}}`)
	site := &v1alpha1.SettingsLayer{}
	require.NoError(s.t, s.admin.Get(s.t.Context(), client.ObjectKey{Namespace: s.name, Name: "site"}, site))
	site.Status.Conditions[0].LastTransitionTime = metav1.Unix(0, 0)
	require.NoError(s.t, s.admin.Status().Update(s.t.Context(), site))

	// There is one worker, and one key. When it has come to this change, it has come to all
	// before.
	s.patchLayer("site", `{"spec":{"data":{"colour":"red"}}}`)
	good["settings"], good["site"] = "colour=red size=7; of defaults, site", "True Merged 2"
	s.becomes(good)
	stop()
	about := []string{
		"PATCH 200 configmaps/settings", "PATCH 409 configmaps/settings",
		"PUT 200 settingslayers/site/status", "PUT 409 settingslayers/site/status",
	}
	assert.Subset(s.t, append(about, ""), requests.Lines(), "all requests are about the last change")
}

func quota(s *env) {
	none := corev1.ResourceList{"count/configmaps": resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	require.NoError(s.t, s.admin.Create(s.t.Context(), quota))
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	require.NoError(s.t, s.admin.Status().Update(s.t.Context(), quota))
	// The server's quota admission hears of it when it hears of it.
	s.eventually(func() bool {
		err := s.admin.Create(s.t.Context(), s.settings(), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "exceeded quota")
	})

	s.layer("defaults", 0, data{"colour": "blue"})
	s.start()
	s.becomes(state{"defaults": "False Blocked 0"})
	s.recorded(`defaults Warning Blocked: the server refuses the ConfigMap settings: applying the ConfigMap: configmaps "settings" is forbidden: exceeded quota: none, requested: count/configmaps=1, used: count/configmaps=0, limited: count/configmaps=0`)

	// And when it no longer refuses, the ConfigMap comes by itself.
	require.NoError(s.t, s.admin.Delete(s.t.Context(), quota))
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
}

func namespaceEnds(s *env) {
	log, requests := s.logged(), &ledger{}
	s.layer("defaults", 0, data{"colour": "blue"})
	stop := s.start(before("PATCH", "configmaps/settings", func() {
		assert.NoError(s.t, s.admin.Delete(s.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}}))
	}), requests.watch)
	s.eventually(func() bool { return requests.String() != "" })
	stop()
	assert.Equal(s.t, []string{"PATCH 403 configmaps/settings"}, requests.Lines())
	assert.NotContains(s.t, log.String(), "Reconciler error")
}

// driftIsLogged shows also that no value is logged.
func driftIsLogged(s *env) {
	log := s.logged()
	const drift = `"drift"=true`
	good := twoLayers(s)
	s.deleteLayer("site")
	s.becomes(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 1"})
	s.layer("site", 10, data{"colour": "green"})
	s.becomes(good)
	s.patchLayer("defaults", `{"spec":{"data":{"size":null}}}`)
	good["settings"], good["defaults"] = "colour=green; of defaults, site", "False Overridden 2, colour by site"
	s.becomes(good)
	// It is drift only if the cache has the statuses above. An operator that has seen a
	// later change of a layer has them.
	s.layer("late", 0, data{"shape": "round"})
	s.becomes(state{"settings": "colour=green shape=round; of defaults, late, site", "defaults": good["defaults"], "site": good["site"], "late": "True Merged 1"})
	s.deleteLayer("late")
	s.becomes(good)
	assert.NotContains(s.t, log.String(), drift)

	s.edit(`{"data":{"colour":"forged"}}`)
	s.becomes(good)
	s.eventually(func() bool { return strings.Contains(log.String(), drift+` "why"="not as in the layers: colour"`) })
	for _, value := range []string{"blue", "green", "round", "forged"} {
		assert.NotContains(s.t, log.String(), value)
	}
}

// TestSeveralWorkersAndManyNamespaces has each of the first writes wait until all have begun.
func TestSeveralWorkersAndManyNamespaces(t *testing.T) {
	w := sharedWorld(t)
	envs := []*env{w.newEnv(t, "one"), w.newEnv(t, "two"), w.newEnv(t, "three")}
	var begun atomic.Int32
	all := make(chan struct{})
	for _, s := range envs {
		s.layer("defaults", 0, data{"colour": "blue"})
	}
	everywhere := &env{world: w, t: t, config: w.role, log: envs[0].log, workers: len(envs)}
	everywhere.start(through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == http.MethodPatch {
			if int(begun.Add(1)) == len(envs) {
				close(all)
			}
			select {
			case <-all:
			case <-request.Context().Done():
				return nil, request.Context().Err()
			}
		}
		return next.RoundTrip(request)
	}))
	for _, s := range envs {
		s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	}
}

// writes is how many the operator sends in the life of crashed.
const writes = 15

// TestACrashAfterEveryWrite lets each write of the operator reach the server once, and has it die
// before it has the answer. A new one takes over, and the cluster must come to the same states.
func TestACrashAfterEveryWrite(t *testing.T) {
	w := sharedWorld(t)
	for n := 1; n <= writes; n++ {
		t.Run(fmt.Sprintf("after write %d", n), func(t *testing.T) {
			t.Parallel()
			s := w.newEnv(t, fmt.Sprintf("crash%d", n))
			dead := make(chan struct{})
			die := s.start(crash(n, func() { close(dead) }))
			var heir sync.WaitGroup
			heir.Go(func() {
				select {
				case <-dead:
					die()
					s.start()
				case <-t.Context().Done(): // the test has failed
				}
			})
			t.Cleanup(heir.Wait)
			crashed(s)
			select {
			case <-dead:
				heir.Wait()
				s.becomes(state{})
			default:
				assert.Fail(t, "it has not sent so many writes")
			}
		})
	}
}

// crashed counts the writes: an apply (a), a patch (p), a deletion (d), a status (s).
func crashed(s *env) {
	s.layer("defaults", 0, data{"colour": "blue"}) // as
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	s.layer("site", 10, data{"colour": "green"}) // ass
	good := state{"settings": "colour=green; of defaults, site", "defaults": "False Overridden 1, colour by site", "site": "True Merged 1"}
	s.becomes(good)
	s.edit(`{"data":{"forged":"x"},"metadata":{"labels":{"app.kubernetes.io/managed-by":"me"}}}`) // pa
	s.becomes(good)
	s.edit(`{"immutable":true}`) // da
	s.becomes(good)
	s.delete() // a
	s.becomes(good)
	s.deleteLayer("site") // as
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	s.patchLayer("defaults", `{"spec":{"data":{"colour":"red"}}}`) // as
	s.becomes(state{"settings": "colour=red; of defaults", "defaults": "True Merged 2"})
	s.deleteLayer("defaults") // d
	s.becomes(state{})
}

var errCrash = errors.New("the program has crashed")

// crash lets so many writes succeed, and then nothing more: not even the answer to the last of
// them arrives. It calls the function when that happens. Events are sent in the background, and
// are not counted.
func crash(after int, dead func()) func(*rest.Config) {
	var mu sync.Mutex
	done := 0
	return through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == http.MethodGet || inWords(request) == "" {
			return next.RoundTrip(request) // caches of a dead program hurt nobody
		}
		mu.Lock() // one write at a time
		defer mu.Unlock()
		if done == after {
			return nil, errCrash
		}
		response, err := next.RoundTrip(request)
		if err != nil || response.StatusCode >= 300 {
			return response, err
		}
		if done++; done == after {
			response.Body.Close()
			dead()
			return nil, errCrash
		}
		return response, nil
	})
}

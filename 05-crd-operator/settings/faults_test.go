package settings

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/internal/faults"
	"example.com/hacking-a-controller/testcluster"
)

func TestFaults(t *testing.T) {
	inEnvs(t, map[string]func(*env){
		"the ConfigMap changes just before it is applied": func(s *env) {
			requests := aboutToApply(s, func() { s.edit(`{"metadata":{"annotations":{"note":"kept"}}}`) })
			assert.Equal(s.t, "PATCH 409 configmaps/settings", requests.Lines()[0])
			assert.Equal(s.t, "kept", s.get().Annotations["note"])
		},

		"the ConfigMap is deleted just before it is applied": func(s *env) { aboutToApply(s, s.delete) },

		// What is deleted is what was observed: here it becomes somebody else's in the last moment.
		"the ConfigMap changes just before it is deleted": func(s *env) {
			s.layer("defaults", 0, data{"colour": "blue"})
			requests := &ledger{}
			s.start(before("DELETE", "configmaps/settings", func() { s.edit(`{"metadata":{"ownerReferences":null}}`) }), requests.watch)
			s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
			s.deleteLayer("defaults")
			s.eventually(func() bool { return slices.Contains(requests.Lines(), "DELETE 409 configmaps/settings") })
			s.layer("site", 0, data{"colour": "green"})
			s.becomes(state{"settings": "colour=blue; of ", "site": "False NameTaken 0"})
		},

		"somebody's ConfigMap comes just before ours": func(s *env) {
			s.layer("defaults", 0, data{"colour": "blue"})
			s.start(before("PATCH", "configmaps/settings", func() { assert.NoError(s.t, s.create(data{"theirs": "yes"})) }))
			s.becomes(state{"settings": "theirs=yes; not labelled; of ", "defaults": "False NameTaken 0"})
		},

		"two operators at once": func(s *env) {
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
		},

		"nothing differs": func(s *env) {
			good := twoLayers(s)
			// A second operator finds all done. Each of these leads to a reconcile, or to none.
			requests := &ledger{}
			stop := s.start(requests.watch)
			s.edit(`{"metadata":{"annotations":{"note":"kept"},"labels":{"team":"coast"}}}`)
			s.patchLayer("site", `{"metadata":{"labels":{"team":"coast"}}}`)
			site := &v1alpha1.SettingsLayer{}
			require.NoError(s.t, s.admin.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "site"}, site))
			site.Status.Conditions[0].LastTransitionTime = metav1.Unix(0, 0)
			require.NoError(s.t, s.admin.Status().Update(s.t.Context(), site))

			// There is one worker, and one key. When it has come to this change, it has come to all before.
			s.patchLayer("site", `{"spec":{"data":{"colour":"red"}}}`)
			good["settings"], good["site"] = "colour=red size=7; of defaults, site", "True Merged 2"
			s.becomes(good)
			stop()
			assert.Subset(s.t, []string{
				"", "PATCH 200 configmaps/settings", "PATCH 409 configmaps/settings",
				"PUT 200 settingslayers/site/status", "PUT 409 settingslayers/site/status",
			}, requests.Lines(), "all requests are about the last change")
		},

		// No value is logged, either.
		"drift is logged as such": func(s *env) {
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
			// It is drift only if the cache has the statuses above. An operator that has seen a later
			// change of a layer has them.
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
		},
	})
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

// TestSeveralWorkersAndManyNamespaces holds back the first writes until all have begun.
func TestSeveralWorkersAndManyNamespaces(t *testing.T) {
	envs := []*env{newEnv(t), newEnv(t), newEnv(t)}
	for _, s := range envs {
		s.layer("defaults", 0, data{"colour": "blue"})
	}
	writes := testcluster.NewGate(t, func(r *http.Request) bool { return r.Method == http.MethodPatch })
	writes.Shut()
	everywhere := &env{t: t, config: operator, log: envs[0].log, workers: len(envs)}
	everywhere.start(writes.Wrap)
	everywhere.eventually(func() bool { return writes.Holding() == len(envs) })
	writes.Open()
	for _, s := range envs {
		s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	}
}

// TestACrashAfterEveryWrite lets each write of the operator reach the server once, and has it die
// before it has the answer. A new one takes over, and the cluster must come to the same states.
func TestACrashAfterEveryWrite(t *testing.T) {
	crashes := map[string]func(*env){}
	for n := 1; n <= writes; n++ {
		crashes[fmt.Sprintf("after write %d", n)] = func(s *env) {
			// Events are sent in the background, and are not counted.
			lose, lost := faults.LoseAnswer(n, true, func(r *http.Request) bool { return r.Method != http.MethodGet && about(r) != "" })
			die := s.start(lose)
			faults.WhenLost(s.t, lost, func() { die(); s.start() })
			crashed(s)
		}
	}
	inEnvs(t, crashes)
}

// writes is how many the operator sends in the life of crashed.
const writes = 15

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

package settings

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

func TestFaults(t *testing.T) {
	w := sharedWorld(t)
	for name, run := range map[string]func(testing.TB, *env){
		"layers change while it is down":                       layersWhileDown,
		"the ConfigMap is edited while it is down":             editedWhileDown,
		"the ConfigMap is replaced while it is down":           replacedWhileDown,
		"a layer is deleted and made anew while it is down":    anewWhileDown,
		"the ConfigMap changes just before it is applied":      changedBeforeApply,
		"the ConfigMap is deleted just before it is applied":   deletedBeforeApply,
		"the ConfigMap changes just before it is deleted":      changedBeforeDelete,
		"somebody's ConfigMap comes just before ours":          takenBeforeApply,
		"a layer changes just before its status is written":    changedBeforeStatus,
		"a layer gets a label just before its status":          labelledBeforeStatus,
		"a layer is deleted just before its status is written": deletedBeforeStatus,
		"layers and the ConfigMap change at the same time":     both,
		"two operators at once":                                twoOperators,
		"nothing differs":                                      nothingDiffers,
		"the server refuses the ConfigMap for a while":         quota,
		"the connection is dropped, again and again":           connectionDropped,
		"the namespace begins to end":                          namespaceEnds,
		"no value is logged":                                   silent,
		"drift is logged as such":                              driftIsLogged,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, w.newEnv(t, envName(name)))
		})
	}
}

func layersWhileDown(_ testing.TB, s *env) {
	s.layer("changed", 0, data{"a": "1"})
	s.layer("deleted", 1, data{"a": "2", "b": "2"})
	s.layer("same", 2, data{"c": "3"})
	stop := s.start()
	s.becomes(state{
		"settings": "a=2 b=2 c=3; of changed, deleted, same",
		"changed":  "False Overridden 1, a by deleted", "deleted": "True Merged 1", "same": "True Merged 1",
	})
	stop()
	s.patchLayer("changed", `{"spec":{"data":{"a":"4"}}}`)
	s.deleteLayer("deleted")
	s.layer("new", 0, data{"d": "5"})
	s.start()
	s.becomes(state{
		"settings": "a=4 c=3 d=5; of changed, new, same",
		"changed":  "True Merged 2", "same": "True Merged 1", "new": "True Merged 1",
	})
}

func editedWhileDown(_ testing.TB, s *env) {
	s.whileDown(func() { s.edit(`{"data":{"colour":"forged","forged":"x"},"metadata":{"labels":null}}`) })
	s.whileDown(func() { s.edit(`{"immutable":true}`) })
	s.whileDown(func() { s.delete() })
}

func replacedWhileDown(_ testing.TB, s *env) {
	s.whileDown(func() { s.replace(data{"theirs": "yes"}) })
}

// whileDown does something to the ConfigMap while there is no operator, and waits
// until one has undone it.
func (s *env) whileDown(do func()) {
	s.t.Helper()
	good := state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"}
	if err := s.admin.Get(s.t.Context(), client.ObjectKey{Namespace: s.name, Name: "defaults"}, &v1alpha1.SettingsLayer{}); err != nil {
		s.layer("defaults", 0, data{"colour": "blue"})
		stop := s.start()
		s.becomes(good)
		stop()
	}
	do()
	stop := s.start()
	s.becomes(good)
	stop()
}

func anewWhileDown(t testing.TB, s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	stop := s.start()
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	stop()
	s.deleteLayer("defaults")
	layer := s.layer("defaults", 0, data{"colour": "green"})
	s.start()
	s.becomes(state{"settings": "colour=green; of defaults", "defaults": "True Merged 1"})
	require.Len(t, s.get().OwnerReferences, 1)
	assert.Equal(t, layer.UID, s.get().OwnerReferences[0].UID, "the owner is the new layer")
}

func changedBeforeApply(t testing.TB, s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	stop := s.start()
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	stop()
	s.patchLayer("defaults", `{"spec":{"data":{"colour":"red"}}}`)
	requests := &ledger{}
	s.start(before("PATCH", "configmaps/settings", func() { s.edit(`{"metadata":{"annotations":{"note":"kept"}}}`) }), requests.watch)
	s.becomes(state{"settings": "colour=red; of defaults", "defaults": "True Merged 2"})
	assert.Equal(t, "PATCH 409 configmaps/settings", requests.all()[0])
	assert.Equal(t, "kept", s.get().Annotations["note"])
}

func deletedBeforeApply(_ testing.TB, s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	stop := s.start()
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	stop()
	s.patchLayer("defaults", `{"spec":{"data":{"colour":"red"}}}`)
	s.start(before("PATCH", "configmaps/settings", func() { s.delete() }))
	s.becomes(state{"settings": "colour=red; of defaults", "defaults": "True Merged 2"})
}

// changedBeforeDelete shows that what is deleted is what was observed: here it
// becomes somebody else's in the last moment.
func changedBeforeDelete(t testing.TB, s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	requests := &ledger{}
	s.start(before("DELETE", "configmaps/settings", func() { s.edit(`{"metadata":{"ownerReferences":null}}`) }), requests.watch)
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	s.deleteLayer("defaults")
	require.Eventually(t, func() bool { return slices.Contains(requests.all(), "DELETE 409 configmaps/settings") }, testcluster.TestTimeout, 20*time.Millisecond)
	s.layer("site", 0, data{"colour": "green"})
	s.becomes(state{"settings": "colour=blue; of ", "site": "False NameTaken 0"})
}

func takenBeforeApply(_ testing.TB, s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	s.start(before("PATCH", "configmaps/settings", func() { s.create(data{"theirs": "yes"}) }))
	s.becomes(state{"settings": "theirs=yes; not labelled; of ", "defaults": "False NameTaken 0"})
}

func changedBeforeStatus(_ testing.TB, s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	s.start(before("PUT", "settingslayers/defaults/status", func() { s.patchLayer("defaults", `{"spec":{"data":{"colour":"red"}}}`) }))
	s.becomes(state{"settings": "colour=red; of defaults", "defaults": "True Merged 2"})
	s.recorded("defaults Normal Merged: the ConfigMap settings has all settings of this layer")
}

// labelledBeforeStatus shows that a status that could not be written is tried
// again, although the change that was in the way leads to no work.
func labelledBeforeStatus(_ testing.TB, s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	s.create(data{"theirs": "yes"}) // no event of a ConfigMap will help
	s.start(before("PUT", "settingslayers/defaults/status", func() { s.patchLayer("defaults", `{"metadata":{"labels":{"team":"coast"}}}`) }))
	s.becomes(state{"settings": "theirs=yes; not labelled; of ", "defaults": "False NameTaken 0"})
}

func deletedBeforeStatus(t testing.TB, s *env) {
	var log lockedBuffer
	s.log = funcr.New(func(prefix, args string) { fmt.Fprintln(&log, prefix, args) }, funcr.Options{})
	s.layer("defaults", 0, data{"colour": "blue"})
	s.layer("site", 1, data{"shape": "round"})
	s.start(before("PUT", "settingslayers/defaults/status", func() { s.deleteLayer("defaults") }))
	s.becomes(state{"settings": "shape=round; of site", "site": "True Merged 1"})
	for line := range strings.Lines(log.String()) {
		// The cache may not have the operator's own last write yet. That is tried again.
		if strings.Contains(line, "Reconciler error") {
			assert.Contains(t, line, "Operation cannot be fulfilled", "a deleted layer is not a failure")
		}
	}
}

func both(_ testing.TB, s *env) {
	twoLayers(s)
	for i := range 5 {
		s.patchLayer("site", fmt.Sprintf(`{"spec":{"data":{"colour":"c%d"}}}`, i))
		s.edit(`{"data":{"colour":"forged"}}`)
	}
	s.becomes(state{
		"settings": "colour=c4 size=7; of defaults, site",
		"defaults": "True PartlyOverridden 1, colour by site",
		"site":     "True Merged 6",
	})
}

func twoOperators(_ testing.TB, s *env) {
	s.start()
	s.start()
	s.layer("defaults", 0, data{"colour": "blue"})
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	s.layer("site", 10, data{"colour": "green"})
	for i := range 10 {
		s.patchLayer("site", fmt.Sprintf(`{"spec":{"data":{"colour":"c%d"}}}`, i))
		s.editIfThere(`{"data":{"colour":"forged"}}`)
	}
	s.becomes(state{
		"settings": "colour=c9; of defaults, site",
		"defaults": "False Overridden 1, colour by site", "site": "True Merged 11",
	})
	s.recorded("defaults Normal Merged: the ConfigMap settings has all settings of this layer",
		"defaults Warning Overridden: the ConfigMap settings has no setting of this layer, not colour (that of site has won)",
		"site Normal Merged: the ConfigMap settings has all settings of this layer")
}

// editIfThere is edit, if there is a ConfigMap.
func (s *env) editIfThere(patch string) {
	s.t.Helper()
	err := s.admin.Patch(s.t.Context(), s.settings(), client.RawPatch("application/merge-patch+json", []byte(patch)))
	require.NoError(s.t, client.IgnoreNotFound(err))
}

func nothingDiffers(t testing.TB, s *env) {
	good := twoLayers(s)

	// A second operator finds all done. Each of these leads to a reconcile, or to none.
	requests := &ledger{}
	stop := s.start(requests.watch)
	s.edit(`{"metadata":{"annotations":{"note":"kept"},"labels":{"team":"coast"}}}`)
	s.patchLayer("site", `{"metadata":{"labels":{"team":"coast"}}}`)
	site := &v1alpha1.SettingsLayer{}
	require.NoError(t, s.admin.Get(t.Context(), client.ObjectKey{Namespace: s.name, Name: "site"}, site))
	site.Status.Conditions[0].LastTransitionTime = metav1.Unix(0, 0)
	require.NoError(t, s.admin.Status().Update(t.Context(), site))

	// There is one worker, and one key. When it has come to this change, it has
	// come to all before.
	s.patchLayer("site", `{"spec":{"data":{"colour":"red"}}}`)
	good["settings"], good["site"] = "colour=red size=7; of defaults, site", "True Merged 2"
	s.becomes(good)
	stop()
	for _, r := range requests.all() {
		assert.Contains(t, []string{
			"PATCH 200 configmaps/settings", "PATCH 409 configmaps/settings",
			"PUT 200 settingslayers/site/status", "PUT 409 settingslayers/site/status",
		}, r, "it is about the last change")
	}
}

func quota(t testing.TB, s *env) {
	none := corev1.ResourceList{"count/configmaps": resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	require.NoError(t, s.admin.Create(t.Context(), quota))
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	require.NoError(t, s.admin.Status().Update(t.Context(), quota))
	// The server's quota admission hears of it when it hears of it.
	require.Eventually(t, func() bool {
		err := s.admin.Create(t.Context(), s.settings(), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "exceeded quota")
	}, testcluster.TestTimeout, 20*time.Millisecond)

	s.layer("defaults", 0, data{"colour": "blue"})
	s.start()
	s.becomes(state{"defaults": "False Blocked 0"})
	s.recorded(`defaults Warning Blocked: the server refuses the ConfigMap settings: applying the ConfigMap: configmaps "settings" is forbidden: exceeded quota: none, requested: count/configmaps=1, used: count/configmaps=0, limited: count/configmaps=0`)

	// And when it no longer refuses, the ConfigMap comes by itself.
	require.NoError(t, s.admin.Delete(t.Context(), quota))
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
}

func connectionDropped(t testing.TB, s *env) {
	proxy, through := testcluster.StartProxy(t, s.config)
	s.config = through
	good := twoLayers(s)
	for i := range 10 {
		proxy.Cut()
		s.edit(`{"data":{"colour":"forged"}}`)
		s.patchLayer("defaults", fmt.Sprintf(`{"spec":{"data":{"size":"%d"}}}`, i))
	}
	good["settings"], good["defaults"] = "colour=green size=9; of defaults, site", "True PartlyOverridden 11, colour by site"
	s.becomes(good)
}

func namespaceEnds(t testing.TB, s *env) {
	var log lockedBuffer
	s.log = funcr.New(func(prefix, args string) { fmt.Fprintln(&log, prefix, args) }, funcr.Options{})
	s.layer("defaults", 0, data{"colour": "blue"})
	requests := &ledger{}
	stop := s.start(before("PATCH", "configmaps/settings", func() {
		assert.NoError(t, s.admin.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}}))
	}), requests.watch)
	require.Eventually(t, func() bool { return len(requests.all()) == 1 }, testcluster.TestTimeout, 20*time.Millisecond)
	stop()
	assert.Equal(t, []string{"PATCH 403 configmaps/settings"}, requests.all())
	assert.NotContains(t, log.String(), "Reconciler error")
}

func driftIsLogged(t testing.TB, s *env) {
	var log lockedBuffer
	s.log = funcr.New(func(prefix, args string) { fmt.Fprintln(&log, prefix, args) }, funcr.Options{})
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
	assert.NotContains(t, log.String(), drift)

	s.edit(`{"data":{"colour":"forged"}}`)
	s.becomes(good)
	require.Eventually(t, func() bool { return strings.Contains(log.String(), drift) }, testcluster.TestTimeout, 20*time.Millisecond)
}

func silent(t testing.TB, s *env) {
	var log lockedBuffer
	s.log = funcr.New(func(prefix, args string) { fmt.Fprintln(&log, prefix, args) }, funcr.Options{Verbosity: 4})
	s.layer("defaults", 0, data{"colour": "unmistakable"})
	stop := s.start()
	s.becomes(state{"settings": "colour=unmistakable; of defaults", "defaults": "True Merged 1"})
	s.edit(`{"data":{"colour":"unmistakable, too"}}`)
	s.becomes(state{"settings": "colour=unmistakable; of defaults", "defaults": "True Merged 1"})
	// The server has it before the operator knows of it.
	const why = `"why"="not as in the layers: colour"`
	require.Eventually(t, func() bool { return strings.Contains(log.String(), why) }, testcluster.TestTimeout, 20*time.Millisecond)
	stop()
	assert.NotContains(t, log.String(), "unmistakable")
}

func TestSeveralWorkersAndManyNamespaces(t *testing.T) {
	w := sharedWorld(t)
	var envs []*env
	for i := range 8 {
		s := w.newEnv(t, fmt.Sprintf("n%d", i))
		s.layer("defaults", 0, data{"colour": "blue"})
		envs = append(envs, s)
	}
	// Each of the first four writes waits until all four have begun.
	var begun atomic.Int32
	all := make(chan struct{})
	everywhere := &env{world: w, t: t, config: w.role, log: envs[0].log, workers: 4}
	everywhere.start(through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == http.MethodPatch {
			if begun.Add(1) == 4 {
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
	for _, s := range envs {
		s.edit(`{"data":{"colour":"forged"}}`)
	}
	for _, s := range envs {
		s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	}
}

func TestTheServerIsKilled(t *testing.T) {
	w := newWorld(t, testcluster.Start(t))
	s := w.newEnv(t, "killed")
	good := twoLayers(s)
	for i := range 2 {
		w.KillServer(t)
		require.Eventually(t, func() bool {
			patch := fmt.Appendf(nil, `{"data":{"colour":"forged %d"}}`, i)
			return s.admin.Patch(t.Context(), s.settings(), client.RawPatch("application/merge-patch+json", patch)) == nil
		}, testcluster.TestTimeout, 50*time.Millisecond)
		s.becomes(good)
	}
}

package settings

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/testcluster"
)

// drift is what others do to the ConfigMap, and what must come of it.
var drift = map[string]func(testing.TB, *env){
	"a value is changed":                        edited(`{"data":{"colour":"forged"}}`),
	"a key is removed":                          edited(`{"data":{"colour":null}}`),
	"a key is added":                            edited(`{"data":{"forged":"x"}}`),
	"a binary key is added":                     edited(`{"binaryData":{"forged":"eA=="}}`),
	"a key becomes a binary one":                edited(`{"data":{"colour":null},"binaryData":{"colour":"eA=="}}`),
	"all data is removed":                       edited(`{"data":null}`),
	"the label is taken off":                    edited(`{"metadata":{"labels":null}}`),
	"the label is changed":                      edited(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"me"}}}`),
	"the owners are taken off":                  edited(`{"metadata":{"ownerReferences":null}}`),
	"it is made immutable":                      edited(`{"immutable":true}`),
	"it is changed and made immutable":          edited(`{"immutable":true,"data":{"colour":"forged"}}`),
	"another manager takes its fields by force": takenByForce,
	"it is deleted":                             deleted,
	"it is deleted again and again":             deletedOften,
	"it is replaced by another of its name":     replaced,
	"it is replaced by an immutable one":        replacedImmutable,
	"it is changed, and gets harmless fields":   harmless,
	"a finalizer keeps it when it is deleted":   finalizer,
	"its layers go while the operator is down":  goneWhileDown,
	"the ConfigMap that was in the way goes":    nameFreed,
}

// The cases run all at once, even on two processors: when the operator does not see what
// others do, each of them waits in vain.
func TestDrift(t *testing.T) {
	w := sharedWorld(t)
	var cases sync.WaitGroup
	defer cases.Wait()
	for name, run := range drift {
		cases.Go(func() {
			t.Run(name, func(t *testing.T) { run(t, w.newEnv(t, envName(name))) })
		})
	}
}

// twoLayers begins a case of drift, and returns the state in which it must end.
func twoLayers(s *env) state {
	// They come first, so that one reconcile merges both: no other is on its way that
	// would find what others do by chance.
	s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
	s.layer("site", 10, data{"colour": "green"})
	s.start()
	good := state{
		"settings": "colour=green size=7; of defaults, site",
		"defaults": "True PartlyOverridden 1, colour by site",
		"site":     "True Merged 1",
	}
	s.becomes(good)
	return good
}

func edited(patch string) func(testing.TB, *env) {
	return func(_ testing.TB, s *env) {
		good := twoLayers(s)
		for range 2 {
			s.edit(patch)
			s.restores(good)
		}
	}
}

func takenByForce(t testing.TB, s *env) {
	good := twoLayers(s)
	require.NoError(t, s.admin.Apply(t.Context(), corev1ac.ConfigMap("settings", s.name).
		WithLabels(map[string]string{managedBy: "me"}).
		WithData(data{"colour": "forged", "forged": "x"}), client.FieldOwner("me"), client.ForceOwnership))
	s.restores(good)
	// A key that is somebody else's as well goes when it leaves the layers.
	require.NoError(t, s.admin.Apply(t.Context(), corev1ac.ConfigMap("settings", s.name).
		WithData(data{"size": "7"}), client.FieldOwner("me")))
	s.patchLayer("defaults", `{"spec":{"data":{"size":null,"shape":"round"}}}`)
	s.restores(state{
		"settings": "colour=green shape=round; of defaults, site",
		"defaults": "True PartlyOverridden 2, colour by site",
		"site":     "True Merged 1",
	})
}

func deleted(_ testing.TB, s *env) {
	good := twoLayers(s)
	s.delete()
	s.restores(good)
}

func deletedOften(_ testing.TB, s *env) {
	good := twoLayers(s)
	for range 10 {
		s.delete()
		s.restores(good)
	}
}

func replaced(_ testing.TB, s *env) {
	good := twoLayers(s)
	s.replace(data{"theirs": "yes", "colour": "forged"})
	s.restores(good)
}

func replacedImmutable(t testing.TB, s *env) {
	good := twoLayers(s)
	s.replace(data{"theirs": "yes"})
	s.restores(good)
	s.edit(`{"immutable":true}`)
	s.restores(good)
	assert.Nil(t, s.get().Immutable)
}

// replace puts another ConfigMap in the place of ours. The operator may be
// faster between the two requests; then it is as if nothing had been done yet.
func (s *env) replace(d data) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		_ = s.admin.Delete(s.t.Context(), s.settings())
		made := s.settings()
		made.Data = d
		return s.admin.Create(s.t.Context(), made) == nil
	}, testcluster.TestTimeout, time.Millisecond)
}

func harmless(t testing.TB, s *env) {
	good := twoLayers(s)
	s.edit(`{"metadata":{"labels":{"team":"coast"},"annotations":{"note":"kept"},
		"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"1"}]},"data":{"colour":"forged","forged":"x"}}`)
	good["settings"] = "colour=green size=7; of defaults, n, site"
	s.restores(good)
	have := s.get()
	assert.Equal(t, "coast", have.Labels["team"])
	assert.Equal(t, "kept", have.Annotations["note"])
}

func finalizer(_ testing.TB, s *env) {
	good := twoLayers(s)
	s.edit(`{"metadata":{"finalizers":["example.com/wait"]}}`)
	s.delete()
	s.restores(state{
		"settings": "colour=green size=7; going; of defaults, site",
		"defaults": "False Blocked 1, colour by site",
		"site":     "False Blocked 1",
	})
	s.edit(`{"metadata":{"finalizers":null}}`)
	s.restores(good)
}

func goneWhileDown(t testing.TB, s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	stop := s.start()
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	stop()
	s.deleteLayer("defaults")
	s.start()
	s.restores(state{})
}

func nameFreed(_ testing.TB, s *env) {
	s.create(data{"theirs": "yes"})
	s.layer("defaults", 0, data{"colour": "blue"})
	s.start()
	s.becomes(state{"settings": "theirs=yes; not labelled; of ", "defaults": "False NameTaken 0"})
	s.delete()
	s.restores(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
}

func envName(title string) string {
	name := strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(strings.ToLower(title))
	return strings.TrimSuffix(name[:min(len(name), 50)], "-")
}

func text(length int) string { return strings.Repeat("x", length) }

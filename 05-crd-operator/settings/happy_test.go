package settings

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// happyPath is all that the operator does as long as nobody else touches the
// ConfigMap.
var happyPath = map[string]func(testing.TB, *env){
	"a layer becomes a ConfigMap":                     oneLayer,
	"a layer that changes":                            layerChanges,
	"of two layers the one of higher priority wins":   priorities,
	"a conflict that ends":                            conflictEnds,
	"layers of one value are not in conflict":         sameValue,
	"the last layer takes the ConfigMap with it":      lastLayerGoes,
	"a layer without settings":                        emptyLayer,
	"a layer that is deleted, and waits for somebody": leavingLayer,
	"a layer that does not fit":                       layerDoesNotFit,
	"a ConfigMap that was there before any layer":     nameTaken,
	"a ConfigMap that is to outlive its layers":       orphaned,
}

func TestHappyPath(t *testing.T) {
	w := sharedWorld(t)
	for name, run := range happyPath {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, w.newEnv(t, envName(name)))
		})
	}
}

func oneLayer(t testing.TB, s *env) {
	s.start()
	s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
	s.becomes(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 1"})
	s.recorded("defaults Normal Merged: the ConfigMap settings has all settings of this layer")
	assert.Equal(t, map[string]string{"app.kubernetes.io/managed-by": "settings"}, s.get().Labels)
	assert.Nil(t, s.get().OwnerReferences[0].Controller, "no layer controls it")
}

func layerChanges(_ testing.TB, s *env) {
	s.start()
	s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
	s.becomes(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 1"})
	s.patchLayer("defaults", `{"spec":{"data":{"colour":"red","size":null,"shape":"round"}}}`)
	s.becomes(state{"settings": "colour=red shape=round; of defaults", "defaults": "True Merged 2"})
	s.recorded("defaults Normal Merged: the ConfigMap settings has all settings of this layer")
}

func priorities(_ testing.TB, s *env) {
	s.start()
	s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
	s.layer("site", 10, data{"colour": "green"})
	s.layer("night", -1, data{"colour": "black"})
	s.becomes(state{
		"settings": "colour=green size=7; of defaults, night, site",
		"defaults": "True PartlyOverridden 1, colour by site",
		"night":    "False Overridden 1, colour by site",
		"site":     "True Merged 1",
	})
	s.patchLayer("night", `{"spec":{"priority":11}}`)
	s.becomes(state{
		"settings": "colour=black size=7; of defaults, night, site",
		"defaults": "True PartlyOverridden 1, colour by night",
		"night":    "True Merged 2",
		"site":     "False Overridden 1, colour by night",
	})
}

func conflictEnds(_ testing.TB, s *env) {
	s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
	s.layer("site", 10, data{"colour": "green", "shape": "round"})
	s.start()
	s.becomes(state{
		"settings": "colour=green shape=round size=7; of defaults, site",
		"defaults": "True PartlyOverridden 1, colour by site", "site": "True Merged 1",
	})
	s.deleteLayer("site")
	s.becomes(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 1"})
	const merged = " Normal Merged: the ConfigMap settings has all settings of this layer"
	s.recorded("defaults Warning PartlyOverridden: the ConfigMap settings has settings of this layer, but not colour (that of site has won)",
		"defaults"+merged, "site"+merged)
}

func sameValue(_ testing.TB, s *env) {
	s.start()
	s.layer("defaults", 0, data{"colour": "blue"})
	s.layer("site", 10, data{"colour": "blue"})
	s.becomes(state{"settings": "colour=blue; of defaults, site", "defaults": "True Merged 1", "site": "True Merged 1"})
}

func lastLayerGoes(_ testing.TB, s *env) {
	s.start()
	s.layer("defaults", 0, data{"colour": "blue"})
	s.layer("site", 10, data{"colour": "green"})
	s.becomes(state{"settings": "colour=green; of defaults, site", "defaults": "False Overridden 1, colour by site", "site": "True Merged 1"})
	s.deleteLayer("defaults")
	s.deleteLayer("site")
	s.becomes(state{})
	s.layer("defaults", 0, data{"colour": "red"})
	s.becomes(state{"settings": "colour=red; of defaults", "defaults": "True Merged 1"})
}

func emptyLayer(_ testing.TB, s *env) {
	s.start()
	s.layer("defaults", 0, nil)
	s.becomes(state{"settings": "; of defaults", "defaults": "True Merged 1"})
}

func leavingLayer(_ testing.TB, s *env) {
	s.start()
	s.layer("defaults", 0, data{"colour": "blue"})
	s.layer("site", 10, data{"colour": "green"})
	s.patchLayer("site", `{"metadata":{"finalizers":["example.com/wait"]}}`)
	s.patchLayer("defaults", `{"metadata":{"finalizers":["example.com/wait"]}}`)
	s.becomes(state{"settings": "colour=green; of defaults, site", "defaults": "False Overridden 1, colour by site", "site": "True Merged 1"})

	// It counts no more, and its status stays.
	s.deleteLayer("site")
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1", "site": "True Merged 1, out of date"})

	// The last one keeps the ConfigMap until it is gone.
	s.deleteLayer("defaults")
	s.patchLayer("site", `{"metadata":{"finalizers":null}}`)
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1, out of date"})
	s.patchLayer("defaults", `{"metadata":{"finalizers":null}}`)
	s.becomes(state{})
}

func layerDoesNotFit(_ testing.TB, s *env) {
	s.start()
	large := data{"a": text(600_000)}
	s.layer("site", 10, large)
	s.becomes(state{"settings": "a=" + text(600_000) + "; of site", "site": "True Merged 1"})
	s.layer("defaults", 0, data{"b": text(600_000), "c": "x"})
	s.layer("night", -1, data{"d": "x"})
	s.becomes(state{
		"settings": "a=" + text(600_000) + " d=x; of defaults, night, site",
		"site":     "True Merged 1", "defaults": "False TooLarge 1", "night": "True Merged 1",
	})
}

func nameTaken(t testing.TB, s *env) {
	theirs := s.create(data{"theirs": "yes"})
	s.layer("defaults", 0, data{"colour": "blue"})
	s.start()
	s.becomes(state{"settings": "theirs=yes; not labelled; of ", "defaults": "False NameTaken 0"})
	s.layer("site", 0, data{"colour": "green"})
	s.becomes(state{"settings": "theirs=yes; not labelled; of ", "defaults": "False NameTaken 0", "site": "False NameTaken 0"})
	assert.Equal(t, theirs.ResourceVersion, s.get().ResourceVersion, "nobody touched it")
	const taken = " Warning NameTaken: the ConfigMap settings was there before any layer, and is left alone; delete or rename it, and the layers take effect"
	s.recorded("defaults"+taken, "site"+taken)

	s.deleteLayer("defaults")
	s.deleteLayer("site")
	s.becomes(state{"settings": "theirs=yes; not labelled; of "})
}

// orphaned is kubectl delete --cascade=orphan, with the part of the garbage
// collector played by the test: it takes the owner off the ConfigMap, and only
// then lets the layer go.
func orphaned(_ testing.TB, s *env) {
	s.layer("defaults", 0, data{"colour": "blue"})
	s.patchLayer("defaults", `{"metadata":{"finalizers":["example.com/orphan"]}}`)
	stop := s.start()
	s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
	stop()
	s.deleteLayer("defaults")
	s.edit(`{"metadata":{"ownerReferences":null}}`)
	s.start()
	s.patchLayer("defaults", `{"metadata":{"finalizers":null}}`)

	// The status of a layer that comes later shows that the operator has seen the first go.
	s.layer("site", 10, data{"colour": "green"})
	s.becomes(state{"settings": "colour=blue; of ", "site": "False NameTaken 0"})
}

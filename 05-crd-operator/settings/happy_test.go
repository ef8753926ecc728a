package settings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHappyPath is all that the operator does as long as nobody else touches the ConfigMap.
func TestHappyPath(t *testing.T) {
	w := sharedWorld(t)
	for name, run := range map[string]func(*env){
		"a layer becomes a ConfigMap":                     oneLayer,
		"a layer that changes":                            layerChanges,
		"a layer that overrides another, and goes":        overrides,
		"a layer that is deleted, and waits for somebody": leavingLayer,
		"a ConfigMap that was there before any layer":     nameTaken,
		"a ConfigMap that is to outlive its layers":       orphaned,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(w.newEnv(t, name))
		})
	}
}

func oneLayer(s *env) {
	s.start()
	s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
	s.becomes(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 1"})
	s.recorded("defaults Normal Merged: the ConfigMap settings has all settings of this layer")
	assert.Equal(s.t, map[string]string{"app.kubernetes.io/managed-by": "settings"}, s.get().Labels)
	assert.Nil(s.t, s.get().OwnerReferences[0].Controller, "no layer controls it")
}

func layerChanges(s *env) {
	s.start()
	s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
	s.becomes(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 1"})
	s.patchLayer("defaults", `{"spec":{"data":{"colour":"red","size":null,"shape":"round"}}}`)
	s.becomes(state{"settings": "colour=red shape=round; of defaults", "defaults": "True Merged 2"})
	s.recorded("defaults Normal Merged: the ConfigMap settings has all settings of this layer")
}

func overrides(s *env) {
	s.start()
	s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
	s.layer("site", 10, data{"colour": "green", "shape": "round"})
	s.becomes(state{
		"settings": "colour=green shape=round size=7; of defaults, site",
		"defaults": "True PartlyOverridden 1, colour by site", "site": "True Merged 1",
	})
	s.deleteLayer("site")
	s.becomes(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 1"})
	s.deleteLayer("defaults")
	s.becomes(state{})
	s.layer("defaults", 0, nil)
	s.becomes(state{"settings": "; of defaults", "defaults": "True Merged 1"})
}

func leavingLayer(s *env) {
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

func nameTaken(s *env) {
	require.NoError(s.t, s.create(data{"theirs": "yes"}))
	theirs := s.get()
	s.layer("defaults", 0, data{"colour": "blue"})
	s.start()
	s.becomes(state{"settings": "theirs=yes; not labelled; of ", "defaults": "False NameTaken 0"})
	assert.Equal(s.t, theirs.ResourceVersion, s.get().ResourceVersion, "nobody touched it")
	s.recorded("defaults Warning NameTaken: the ConfigMap settings was there before any layer, and is left alone; delete or rename it, and the layers take effect")
	s.deleteLayer("defaults")
	s.becomes(state{"settings": "theirs=yes; not labelled; of "})
}

// orphaned is kubectl delete --cascade=orphan, with the part of the garbage collector played by
// the test: it takes the owner off the ConfigMap, and only then lets the layer go.
func orphaned(s *env) {
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

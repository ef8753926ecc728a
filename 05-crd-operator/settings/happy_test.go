package settings

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestHappyPath is all that the operator does as long as nobody else touches the ConfigMap.
func TestHappyPath(t *testing.T) {
	inEnvs(t, map[string]func(*env){
		"a layer becomes a ConfigMap": func(s *env) {
			s.start()
			s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
			s.becomes(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 1"})
			s.recorded("defaults Normal Merged: the ConfigMap settings has all settings of this layer")
			assert.Equal(s.t, map[string]string{"app.kubernetes.io/managed-by": "settings"}, s.get().Labels)
			assert.Nil(s.t, s.get().OwnerReferences[0].Controller, "no layer controls it")
		},

		"a layer that changes": func(s *env) {
			s.start()
			s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
			s.becomes(state{"settings": "colour=blue size=7; of defaults", "defaults": "True Merged 1"})
			s.patchLayer("defaults", `{"spec":{"data":{"colour":"red","size":null,"shape":"round"}}}`)
			s.becomes(state{"settings": "colour=red shape=round; of defaults", "defaults": "True Merged 2"})
			s.recorded("defaults Normal Merged: the ConfigMap settings has all settings of this layer")
		},

		"a layer that overrides another, and goes": func(s *env) {
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
		},

		"a layer that is deleted, and waits for somebody": func(s *env) {
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
		},
	})
}

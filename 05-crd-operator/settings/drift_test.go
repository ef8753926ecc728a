package settings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestDrift is what others do to the ConfigMap, and what must come of it.
func TestDrift(t *testing.T) {
	inEnvs(t, map[string]func(*env){
		"a value is changed":               edited(`{"data":{"colour":"forged"}}`),
		"a key is removed":                 edited(`{"data":{"colour":null}}`),
		"a key is added":                   edited(`{"data":{"forged":"x"}}`),
		"a binary key is added":            edited(`{"binaryData":{"forged":"eA=="}}`),
		"a key becomes a binary one":       edited(`{"data":{"colour":null},"binaryData":{"colour":"eA=="}}`),
		"the label is taken off":           edited(`{"metadata":{"labels":null}}`),
		"the label is changed":             edited(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"me"}}}`),
		"the owners are taken off":         edited(`{"metadata":{"ownerReferences":null}}`),
		"it is changed and made immutable": edited(`{"immutable":true,"data":{"colour":"forged"}}`),

		"another manager takes its fields by force": func(s *env) {
			good := twoLayers(s)
			require.NoError(s.t, s.admin.Apply(s.t.Context(), corev1ac.ConfigMap("settings", s.namespace).
				WithLabels(map[string]string{managedBy: "me"}).
				WithData(data{"colour": "forged", "forged": "x"}), client.FieldOwner("me"), client.ForceOwnership))
			s.restores(good)
			// A key that is somebody else's as well goes when it leaves the layers.
			require.NoError(s.t, s.admin.Apply(s.t.Context(), corev1ac.ConfigMap("settings", s.namespace).
				WithData(data{"size": "7"}), client.FieldOwner("me")))
			s.patchLayer("defaults", `{"spec":{"data":{"size":null,"shape":"round"}}}`)
			good["settings"], good["defaults"] = "colour=green shape=round; of defaults, site", "True PartlyOverridden 2, colour by site"
			s.restores(good)
		},

		"it is deleted": func(s *env) {
			good := twoLayers(s)
			for range 3 {
				s.delete()
				s.restores(good)
			}
		},

		"it is changed, and gets harmless fields": func(s *env) {
			good := twoLayers(s)
			s.edit(`{"metadata":{"labels":{"team":"coast"},"annotations":{"note":"kept"},
				"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"1"}]},"data":{"colour":"forged","forged":"x"}}`)
			good["settings"] = "colour=green size=7; of defaults, n, site"
			s.restores(good)
			assert.Equal(s.t, "coast", s.get().Labels["team"])
			assert.Equal(s.t, "kept", s.get().Annotations["note"])
		},

		"a finalizer keeps it when it is deleted": func(s *env) {
			good := twoLayers(s)
			s.edit(`{"metadata":{"finalizers":["example.com/wait"]}}`)
			s.delete()
			s.restores(state{
				"settings": "colour=green size=7; going; of defaults, site",
				"defaults": "False Blocked 1, colour by site", "site": "False Blocked 1",
			})
			s.edit(`{"metadata":{"finalizers":null}}`)
			s.restores(good)
		},

		"the ConfigMap that was in the way goes": func(s *env) {
			require.NoError(s.t, s.create(data{"theirs": "yes"}))
			before := s.get()
			s.layer("defaults", 0, data{"colour": "blue"})
			s.start()
			s.becomes(state{"settings": "theirs=yes; not labelled; of ", "defaults": "False NameTaken 0"})
			s.recorded("defaults Warning NameTaken: the ConfigMap settings was there before any layer, and is left alone; delete or rename it, and the layers take effect")
			assert.Equal(s.t, before.ResourceVersion, s.get().ResourceVersion, "somebody has touched it")
			s.delete()
			s.restores(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
		},
	})
}

// twoLayers begins a case of drift, and returns the state in which it must end.
func twoLayers(s *env) state {
	// They come first, so that one reconcile merges both: no other is on its way that would find
	// what others do by chance.
	s.layer("defaults", 0, data{"colour": "blue", "size": "7"})
	s.layer("site", 10, data{"colour": "green"})
	s.start()
	good := state{
		"settings": "colour=green size=7; of defaults, site",
		"defaults": "True PartlyOverridden 1, colour by site", "site": "True Merged 1",
	}
	s.becomes(good)
	return good
}

func edited(patch string) func(*env) {
	return func(s *env) {
		good := twoLayers(s)
		for range 2 {
			s.edit(patch)
			s.restores(good)
		}
	}
}

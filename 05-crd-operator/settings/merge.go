package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// merged is what the layers of a namespace come to.
type merged struct {
	data    map[string]string
	from    map[string]string   // by key: the name of the layer that has won it
	leftOut map[string]omission // by name of a layer: why nothing of it is in data
	size    int
}

// omission is why a layer is left out: for programs, and for people.
type omission struct{ reason, message string }

// merge puts layers together. It begins with the one that weighs most, so that
// what is there already has won.
//
// A layer that a ConfigMap could not hold is left out, as a whole, and all
// others are merged as if it were not there: a mistake in one layer must not
// stop the others.
func merge(layers []*v1alpha1.SettingsLayer) merged {
	m := merged{data: map[string]string{}, from: map[string]string{}, leftOut: map[string]omission{}}
	for _, layer := range slices.SortedFunc(slices.Values(layers), heaviestFirst) {
		won := m.wins(layer)
		if why := m.objection(layer, won); why != (omission{}) {
			m.leftOut[layer.Name] = why
			continue
		}
		for _, key := range won {
			m.data[key], m.from[key] = layer.Spec.Data[key], layer.Name
			m.size += len(layer.Spec.Data[key])
		}
	}
	return m
}

// heaviestFirst is the order in which layers weigh. No two are equal, so the
// result never depends on the order in which a cache returns them.
func heaviestFirst(a, b *v1alpha1.SettingsLayer) int {
	return cmp.Or(
		cmp.Compare(b.Spec.Priority, a.Spec.Priority),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		strings.Compare(a.Name, b.Name),
	)
}

// wins is the keys of the layer that no heavier one has.
func (m merged) wins(layer *v1alpha1.SettingsLayer) []string {
	keys := slices.Sorted(maps.Keys(layer.Spec.Data))
	return slices.DeleteFunc(keys, func(key string) bool { _, taken := m.data[key]; return taken })
}

// objection is why the server would refuse a ConfigMap with the layer in it. The
// schema objects to bad keys, too, but a layer may be older than its schema.
func (m merged) objection(layer *v1alpha1.SettingsLayer, won []string) omission {
	size := m.size
	for _, key := range won {
		if problems := validation.IsConfigMapKey(key); len(problems) > 0 {
			return omission{v1alpha1.InvalidKey, fmt.Sprintf("a ConfigMap cannot have the key %q; give it another name", key)}
		}
		size += len(layer.Spec.Data[key])
	}
	if size > corev1.MaxSecretSize { // the limit of ConfigMaps, too
		return omission{v1alpha1.TooLarge, fmt.Sprintf(
			"with this layer, and those that weigh more, the ConfigMap would have values of %d bytes, and it can have %d; take something out",
			size, corev1.MaxSecretSize)}
	}
	return omission{}
}

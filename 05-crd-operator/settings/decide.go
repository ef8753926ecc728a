package settings

import (
	"fmt"
	"slices"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// action is what to do about a ConfigMap. Its words are for logs.
type action string

const (
	leave   action = "leave"   // nothing
	refuse  action = "refuse"  // nothing, and say why
	apply   action = "apply"   // make it as it should be
	replace action = "replace" // by another, because it cannot be changed
	remove  action = "delete"
)

// decision is what to do about a namespace.
type decision struct {
	action action
	why    string                                // for logs
	drift  bool                                  // whether somebody else is the cause
	want   *corev1ac.ConfigMapApplyConfiguration // to apply, and to replace
	merged merged
	refuse omission // what to tell all layers
}

// decide says what to do, given the name of the ConfigMap. The order matters.
func decide(o observed, name string) decision {
	switch {
	// Whoever deletes the last layer wants the ConfigMap to go.
	case len(o.layers) == 0 && len(o.leaving) == 0:
		if o.have != nil && o.have.DeletionTimestamp == nil && marked(o.have) {
			return decision{action: remove, why: "there is no layer left"}
		}
		return decision{action: leave}

	// Unless with --cascade=orphan: then the garbage collector takes the owners
	// off the ConfigMap before the last layer is gone, and it stays.
	case len(o.layers) == 0:
		return decision{action: leave}

	case o.have != nil && !isOurs(o, name):
		return decision{action: refuse, why: "it was not made from layers", refuse: omission{v1alpha1.NameTaken,
			fmt.Sprintf("the ConfigMap %s was there before any layer, and is left alone; delete or rename it, and the layers take effect", name)}}

	case o.have != nil && o.have.DeletionTimestamp != nil:
		return decision{action: refuse, why: "it is being deleted", refuse: omission{v1alpha1.Blocked,
			fmt.Sprintf("the ConfigMap %s is being deleted, and somebody's finalizer keeps it; remove that from metadata.finalizers, and there will be a new one", name)}}
	}

	d := decision{merged: merge(o.layers)}
	d.want = desired(o.namespace, name, o.layers, d.merged.data)
	d.why = difference(o.have, d.want)
	d.drift = d.why != "" && drifted(o, name, d.want)
	switch {
	case d.why == "":
		d.action = leave
	case o.have != nil && ptr.Deref(o.have.Immutable, false):
		d.action = replace
	default:
		d.action = apply
	}
	return d
}

// isOurs tells our ConfigMap from one that somebody else made for other ends,
// and whose data must not be lost. It is ours if it bears our mark. And it is
// ours if a layer remembers to be in a ConfigMap of this name: then it was
// replaced by somebody, which is undone like any other change.
func isOurs(o observed, name string) bool {
	return marked(o.have) || slices.ContainsFunc(o.layers, func(layer *v1alpha1.SettingsLayer) bool {
		return layer.Status.ConfigMap == name
	})
}

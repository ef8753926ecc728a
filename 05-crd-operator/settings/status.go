package settings

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// statusOf is the status of a layer once the ConfigMap is as decided.
func statusOf(layer *v1alpha1.SettingsLayer, d decision, configMap string) v1alpha1.SettingsLayerStatus {
	if d.action == refuse {
		return refused(layer, d.refuse)
	}
	status := *layer.Status.DeepCopy()
	status.ConfigMap = configMap
	status.ObservedGeneration = layer.Generation
	status.Overridden = overridden(layer, d.merged)
	set(&status, layer, effect(layer, d.merged, status.Overridden, configMap))
	return status
}

// refused is the status of a layer when the ConfigMap could not be touched. What
// the status says about the ConfigMap stays: it is as true as before.
func refused(layer *v1alpha1.SettingsLayer, why omission) v1alpha1.SettingsLayerStatus {
	status := *layer.Status.DeepCopy()
	set(&status, layer, metav1.Condition{Status: metav1.ConditionFalse, Reason: why.reason, Message: why.message})
	return status
}

// set sets the condition. The time of its last transition stays while its status
// stays, so that a condition that is set twice is set once.
func set(status *v1alpha1.SettingsLayerStatus, layer *v1alpha1.SettingsLayer, condition metav1.Condition) {
	condition.Type = v1alpha1.InEffect
	condition.ObservedGeneration = layer.Generation
	meta.SetStatusCondition(&status.Conditions, condition)
}

// overridden are the keys for which another layer has won with another value.
func overridden(layer *v1alpha1.SettingsLayer, m merged) []v1alpha1.Override {
	if _, leftOut := m.leftOut[layer.Name]; leftOut {
		return nil
	}
	var all []v1alpha1.Override
	for _, key := range slices.Sorted(maps.Keys(layer.Spec.Data)) {
		if m.data[key] != layer.Spec.Data[key] {
			all = append(all, v1alpha1.Override{Key: key, By: m.from[key]})
		}
	}
	return all
}

// effect is the condition InEffect.
func effect(layer *v1alpha1.SettingsLayer, m merged, lost []v1alpha1.Override, configMap string) metav1.Condition {
	why, leftOut := m.leftOut[layer.Name]
	switch {
	case leftOut:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: why.reason, Message: why.message}
	case len(lost) == 0:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.Merged,
			Message: fmt.Sprintf("the ConfigMap %s has all settings of this layer", configMap)}
	case len(lost) < len(layer.Spec.Data):
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.PartlyOverridden,
			Message: fmt.Sprintf("the ConfigMap %s has settings of this layer, but not %s", configMap, losses(lost))}
	default:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1alpha1.Overridden,
			Message: fmt.Sprintf("the ConfigMap %s has no setting of this layer, not %s", configMap, losses(lost))}
	}
}

// losses says which layer has won which key.
func losses(lost []v1alpha1.Override) string {
	words := make([]string, len(lost))
	for i, o := range lost {
		words[i] = fmt.Sprintf("%s (that of %s has won)", o.Key, o.By)
	}
	return list(words)
}

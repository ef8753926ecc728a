package settings

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// updateStatuses writes the status of each layer for which it is new. A layer that has changed
// since it was read does not keep the others from their status.
func (r *Reconciler) updateStatuses(ctx context.Context, o observed, d decision) error {
	var changed error
	for _, layer := range o.layers {
		status := statusOf(layer, d, o.key.Name)
		if equality.Semantic.DeepEqual(status, layer.Status) {
			continue
		}
		before := meta.FindStatusCondition(layer.Status.Conditions, v1alpha1.InEffect)
		layer.Status = status
		err := r.Status().Update(ctx, layer, fieldManager)
		switch {
		case err == nil:
			r.record(layer, before)
		case apierrors.IsNotFound(err): // the watch will report its deletion
		default:
			err = fmt.Errorf("writing the status of the layer %s: %w", layer.Name, err)
			if !apierrors.IsConflict(err) {
				return err
			}
			changed = err
		}
	}
	return changed
}

// record records in an event what has become of a layer, if that is new. It comes after the
// status, which only one write can change from the old to the new. So there is one event,
// however many operators there are; if the program dies between the two, there is none, and
// the status has it.
func (r *Reconciler) record(layer *v1alpha1.SettingsLayer, before *metav1.Condition) {
	now := meta.FindStatusCondition(layer.Status.Conditions, v1alpha1.InEffect)
	if before != nil && before.Status == now.Status && before.Reason == now.Reason && before.Message == now.Message {
		return
	}
	eventType := corev1.EventTypeWarning
	if now.Reason == v1alpha1.Merged {
		eventType = corev1.EventTypeNormal
	}
	r.Recorder.Eventf(layer, nil, eventType, now.Reason, "Merge", "%s", short(now.Message))
}

// short cuts a text to what an event can hold.
func short(text string) string {
	const most = 1024
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

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

// refused is the status of a layer when the ConfigMap could not be written. What the status
// shows of the ConfigMap stays: it is as true as before.
func refused(layer *v1alpha1.SettingsLayer, why omission) v1alpha1.SettingsLayerStatus {
	status := *layer.Status.DeepCopy()
	set(&status, layer, metav1.Condition{Status: metav1.ConditionFalse, Reason: why.reason, Message: why.message})
	return status
}

// set sets the condition. The time of its last transition stays while its status stays, so
// to set it twice changes nothing.
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

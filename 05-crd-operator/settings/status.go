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
		before := layer.Status
		layer.Status = statusOf(layer, d, o.key.Name)
		if equality.Semantic.DeepEqual(layer.Status, before) {
			continue
		}
		err := r.Status().Update(ctx, layer, fieldManager)
		switch {
		case err == nil:
			r.record(layer, before)
		case apierrors.IsNotFound(err): // the watch will report its deletion
		case apierrors.IsConflict(err):
			changed = fmt.Errorf("writing the status of the layer %s: %w", layer.Name, err)
		default:
			return fmt.Errorf("writing the status of the layer %s: %w", layer.Name, err)
		}
	}
	return changed
}

// record records in an event what has become of a layer, if that is new. It comes after the
// status, which only one write can change from the old to the new. So there is one event,
// however many operators there are; if the program dies between the two, there is none, and
// the status has it.
func (r *Reconciler) record(layer *v1alpha1.SettingsLayer, before v1alpha1.SettingsLayerStatus) {
	now := meta.FindStatusCondition(layer.Status.Conditions, v1alpha1.InEffect)
	was := meta.FindStatusCondition(before.Conditions, v1alpha1.InEffect)
	// The words of a refusal may differ each time, such as what is used of a quota.
	if was != nil && was.Status == now.Status && was.Reason == now.Reason && (was.Message == now.Message || now.Reason == v1alpha1.Blocked) {
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

// statusOf is the status of a layer once the ConfigMap is as decided. When it could not be
// written, what the status shows of it stays: it is as true as before.
func statusOf(layer *v1alpha1.SettingsLayer, d decision, configMap string) v1alpha1.SettingsLayerStatus {
	status := *layer.Status.DeepCopy()
	condition := metav1.Condition{Status: metav1.ConditionFalse, Reason: d.refuse.reason, Message: d.refuse.message}
	if d.action != refuse {
		status.ConfigMap, status.ObservedGeneration = configMap, layer.Generation
		status.Overridden = overridden(layer, d.merged)
		condition = effect(layer, d.merged, status.Overridden, configMap)
	}
	condition.Type, condition.ObservedGeneration = v1alpha1.InEffect, layer.Generation
	// The time of the last transition stays while the status stays, so to set it twice changes nothing.
	meta.SetStatusCondition(&status.Conditions, condition)
	return status
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
	no, yes := metav1.ConditionFalse, metav1.ConditionTrue
	has := "the ConfigMap " + configMap + " has "
	why, leftOut := m.leftOut[layer.Name]
	switch {
	case leftOut:
		return metav1.Condition{Status: no, Reason: why.reason, Message: why.message}
	case len(lost) == 0:
		return metav1.Condition{Status: yes, Reason: v1alpha1.Merged, Message: has + "all settings of this layer"}
	case len(lost) < len(layer.Spec.Data):
		return metav1.Condition{Status: yes, Reason: v1alpha1.PartlyOverridden, Message: has + "settings of this layer, but not " + losses(lost)}
	default:
		return metav1.Condition{Status: no, Reason: v1alpha1.Overridden, Message: has + "no setting of this layer, not " + losses(lost)}
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

package settings

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// tell writes to all layers what became of them. What they say already is not
// written. A layer that has changed since it was read keeps no other from its status.
func (r *reconciler) tell(ctx context.Context, o observed, d decision) error {
	var changed error
	for _, layer := range o.layers {
		status := statusOf(layer, d, r.configMap)
		if equality.Semantic.DeepEqual(status, layer.Status) {
			continue
		}
		before := meta.FindStatusCondition(layer.Status.Conditions, v1alpha1.InEffect)
		layer.Status = status
		err := r.client.Status().Update(ctx, layer, manager)
		switch {
		case err == nil:
			r.announce(layer, before)
		case apierrors.IsNotFound(err): // its deletion is on the way, and brings the namespace back
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

// announce tells in an event what has become of a layer, if that is new. It comes
// after the status, which only one write can turn from the old into the new. So
// it comes once, whoever else is at work; if the program dies between the two,
// it does not come at all, and the status has it.
func (r *reconciler) announce(layer *v1alpha1.SettingsLayer, before *metav1.Condition) {
	now := meta.FindStatusCondition(layer.Status.Conditions, v1alpha1.InEffect)
	if before != nil && before.Status == now.Status && before.Reason == now.Reason && before.Message == now.Message {
		return
	}
	eventType := corev1.EventTypeWarning
	if now.Reason == v1alpha1.Merged {
		eventType = corev1.EventTypeNormal
	}
	r.events.Eventf(layer, nil, eventType, now.Reason, "Merge", "%s", short(now.Message))
}

// short cuts a text to what an event can hold.
func short(text string) string {
	const most = 1024
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

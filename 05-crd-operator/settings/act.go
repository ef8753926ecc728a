package settings

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// manager is the name under which the operator owns fields.
const manager = client.FieldOwner(program)

// noVersion is one that no object has any more: it is older than all of them. An
// apply with it creates the object, or fails with a conflict if there is one.
const noVersion = "1"

// act does what was decided. No write can hit anything but what the decision was
// about: it names the version that was seen, and fails if there is another.
func (r *reconciler) act(ctx context.Context, o observed, d decision) error {
	switch d.action {
	case apply:
		return r.apply(ctx, o.have, d.want)
	case replace:
		if err := r.delete(ctx, o.have); err != nil {
			return err
		}
		return r.apply(ctx, nil, d.want)
	case remove:
		return r.delete(ctx, o.have)
	default:
		return nil
	}
}

// apply makes the ConfigMap as it is wanted. The server knows who owns which
// field. It sets the fields of the apply, takes back those that others have
// changed, and removes those of ours that are not in it any more. It leaves
// alone what belongs to others: their labels, their annotations, their owners.
func (r *reconciler) apply(ctx context.Context, have *corev1.ConfigMap, want *corev1ac.ConfigMapApplyConfiguration) error {
	version := noVersion
	if have != nil {
		if err := r.prune(ctx, have, want); err != nil {
			return err
		}
		version = have.ResourceVersion
	}
	if err := r.client.Apply(ctx, want.WithResourceVersion(version), manager, client.ForceOwnership); err != nil {
		return fmt.Errorf("applying the ConfigMap: %w", err)
	}
	return nil
}

// prune removes the keys of others. An apply alone would leave them alone, too.
// It comes first: a key of theirs may leave no room for ours.
func (r *reconciler) prune(ctx context.Context, have *corev1.ConfigMap, want *corev1ac.ConfigMapApplyConfiguration) error {
	foreign := foreignKeys(have, want)
	if len(foreign) == 0 {
		return nil
	}
	data := map[string]any{}
	for _, key := range foreign {
		data[key] = nil // in a merge patch, null removes
	}
	patch, err := json.Marshal(map[string]any{
		"metadata":   map[string]any{"resourceVersion": have.ResourceVersion},
		"data":       data,
		"binaryData": nil,
	})
	if err != nil {
		return fmt.Errorf("writing a patch: %w", err)
	}
	if err := r.client.Patch(ctx, have, client.RawPatch(types.MergePatchType, patch), manager); err != nil {
		return fmt.Errorf("removing foreign keys from the ConfigMap: %w", err)
	}
	return nil
}

func (r *reconciler) delete(ctx context.Context, have *corev1.ConfigMap) error {
	err := r.client.Delete(ctx, have, client.Preconditions{UID: &have.UID, ResourceVersion: &have.ResourceVersion})
	if err != nil {
		return fmt.Errorf("deleting the ConfigMap: %w", err)
	}
	return nil
}

package settings

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// observed is what is in a namespace, as far as it matters.
type observed struct {
	namespace string
	layers    []*v1alpha1.SettingsLayer // that count
	leaving   []*v1alpha1.SettingsLayer // that are being deleted, and count no more
	have      *corev1.ConfigMap         // nil if there is none
}

// observe looks into the cache.
func (r *reconciler) observe(ctx context.Context, namespace string) (observed, error) {
	o := observed{namespace: namespace}
	var layers v1alpha1.SettingsLayerList
	if err := r.client.List(ctx, &layers, client.InNamespace(namespace)); err != nil {
		return o, fmt.Errorf("listing the layers of %s: %w", namespace, err)
	}
	for i := range layers.Items {
		if layer := &layers.Items[i]; layer.DeletionTimestamp == nil {
			o.layers = append(o.layers, layer)
		} else {
			o.leaving = append(o.leaving, layer)
		}
	}

	var have corev1.ConfigMap
	err := r.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: r.configMap}, &have)
	switch {
	case err == nil:
		o.have = &have
	case !apierrors.IsNotFound(err):
		return o, fmt.Errorf("looking for the ConfigMap %s/%s: %w", namespace, r.configMap, err)
	}
	return o, nil
}

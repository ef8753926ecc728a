package manager

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	layers "example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/05-crd-operator/settings"
)

// checkAccess lists one object of each kind that the caches will list and watch. A
// cache that is refused tries again for ever, and only the log shows it; at the start,
// a refusal is an error.
func checkAccess(ctx context.Context, server client.Reader, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		in, one := client.InNamespace(namespace), client.Limit(1)
		err := errors.Join(
			server.List(ctx, &cnat.AtList{}, in, one),
			server.List(ctx, &layers.SettingsLayerList{}, in, one),
			server.List(ctx, &corev1.PodList{}, in, one, client.MatchingLabels{lifecycle.ManagedBy: lifecycle.Operator}),
			server.List(ctx, &corev1.ConfigMapList{}, in, one, client.MatchingFields{"metadata.name": settings.ConfigMap}),
		)
		if apierrors.IsNotFound(err) {
			return errors.New("the cluster does not know Ats or SettingsLayers; create their CRDs with kubectl apply -k config/crd")
		} else if err != nil {
			return err
		}
	}
	return nil
}

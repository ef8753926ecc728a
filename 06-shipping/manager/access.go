package manager

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/05-crd-operator/access"
	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	layers "example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/05-crd-operator/settings"
)

// checkAccess lists and watches a little of what the caches will, in each of the namespaces.
func checkAccess(ctx context.Context, config *rest.Config, namespaces []string) error {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		if err := access.Check(ctx, config, namespace,
			access.Read{GroupVersionResource: cnat.SchemeGroupVersion.WithResource("ats")},
			access.Read{GroupVersionResource: layers.SchemeGroupVersion.WithResource("settingslayers")},
			access.Read{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("pods"), Labels: lifecycle.PodSelector},
			access.Read{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("configmaps"), Fields: "metadata.name=" + settings.ConfigMap},
		); err != nil {
			return err
		}
	}
	return nil
}

package settings

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
)

// watchOutput makes every change of a ConfigMap a reason to look at its
// namespace. Without it all looks well: the ConfigMap is made, and follows the
// layers. But what others do to it stays, until a layer changes.
func watchOutput(b *builder.TypedBuilder[string]) {
	b.Watches(&corev1.ConfigMap{}, enqueueNamespace)
}

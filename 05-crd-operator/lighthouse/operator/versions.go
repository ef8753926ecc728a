package main

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1beta1"
)

// newScheme has the types of Kubernetes and ours. It isn't client-go's own, which belongs to all of a process.
func newScheme() (*runtime.Scheme, error) {
	types := runtime.NewScheme()
	return types, errors.Join(scheme.AddToScheme(types), v1alpha1.AddToScheme(types), v1beta1.AddToScheme(types))
}

// serveConversion answers at /convert when the API server has an object in one version, and somebody
// wants it in the other. The manager begins with that before it fills its caches: to read an object may
// already take a conversion. A certificate that is renewed is in use from the next handshake on.
func serveConversion(manager ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(manager, &v1beta1.Lighthouse{}).Complete()
}

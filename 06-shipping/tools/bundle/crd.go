package bundle

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// served are the kinds that a CRD serves: one for each version.
func served(object *unstructured.Unstructured) ([]schema.GroupVersionKind, error) {
	crd, err := convert[apiextensionsv1.CustomResourceDefinition](object)
	if err != nil {
		return nil, err
	}
	var kinds []schema.GroupVersionKind
	for _, version := range crd.Spec.Versions {
		if version.Served {
			kinds = append(kinds, schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind})
		}
	}
	return kinds, nil
}

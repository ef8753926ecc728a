// Package v1alpha1 is the first version of the API of Lighthouse: lamps that burn, and a place in the
// Light List.
//
// +groupName=coast.example.com
// +kubebuilder:object:generate=true
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "coast.example.com", Version: "v1alpha1"}

// AddToScheme says which kinds the Go types of this package are.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Lighthouse{}, &LighthouseList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

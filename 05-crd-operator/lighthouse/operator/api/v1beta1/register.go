// Package v1beta1 is the second version of the API of Lighthouse: a character with durations, and a position that is
// always there. It is the hub: each other version is converted to it and from it.
//
// +groupName=coast.example.com
// +kubebuilder:object:generate=true
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "coast.example.com", Version: "v1beta1"}

// AddToScheme says which kinds the Go types of this package are.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Lighthouse{}, &LighthouseList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

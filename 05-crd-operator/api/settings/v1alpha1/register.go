package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of SettingsLayer.
const GroupName = "settings.example.com"

// SchemeGroupVersion is the group and the version of the types in this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// SchemeBuilder collects what AddToScheme adds.
var SchemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &SettingsLayer{}, &SettingsLayerList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
})

// AddToScheme makes the types of this package known to a scheme, which maps Go
// types to kinds. Every client needs that.
var AddToScheme = SchemeBuilder.AddToScheme

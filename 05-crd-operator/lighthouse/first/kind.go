// +kubebuilder:object:generate=true
package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Lighthouse is a kind of our own. crd.yaml says the same to the API server.
//
// +kubebuilder:object:root=true
type Lighthouse struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LighthouseSpec   `json:"spec"`
	Status LighthouseStatus `json:"status,omitzero"`
}

// LighthouseSpec is the desired state. A user writes it.
type LighthouseSpec struct {
	Lamps int32  `json:"lamps"` // how many should burn
	Flash string `json:"flash"` // what each of them prints
}

// LighthouseStatus is the actual state. The operator writes it.
type LighthouseStatus struct {
	Burning    int32              `json:"burning"` // how many lamps burn
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// LighthouseList is what a list of them decodes into.
//
// +kubebuilder:object:root=true
type LighthouseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Lighthouse `json:"items"`
}

// addToScheme says which kind these Go types are.
func addToScheme(scheme *runtime.Scheme) {
	version := schema.GroupVersion{Group: "coast.example.com", Version: "v1alpha1"}
	scheme.AddKnownTypes(version, &Lighthouse{}, &LighthouseList{})
	metav1.AddToGroupVersion(scheme, version)
}

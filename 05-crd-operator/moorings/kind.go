package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Mooring is a berth for a ship. crd.yaml says the same to the API server.
type Mooring struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   MooringSpec   `json:"spec"`
	Status MooringStatus `json:"status,omitzero"`
}

// MooringSpec is the desired state. A user writes it.
type MooringSpec struct {
	Ship   string `json:"ship"`
	Metres int    `json:"metres"` // the ship's length
}

// MooringStatus is the actual state. The operator writes it.
type MooringStatus struct {
	Number             string             `json:"number,omitempty"` // of the booking
	Berth              string             `json:"berth,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// MooringList is what a list of them decodes into.
type MooringList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Mooring `json:"items"`
}

// DeepCopyObject makes it a runtime.Object. In a project, controller-gen writes these two.
func (m *Mooring) DeepCopyObject() runtime.Object {
	copied := *m
	m.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Conditions = slices.Clone(m.Status.Conditions)
	return &copied
}

// DeepCopyObject makes it a runtime.Object.
func (l *MooringList) DeepCopyObject() runtime.Object {
	copied := *l
	l.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]Mooring, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*Mooring)
	}
	return &copied
}

// addToScheme says which kind these Go types are.
func addToScheme(scheme *runtime.Scheme) {
	version := schema.GroupVersion{Group: "harbour.example.com", Version: "v1alpha1"}
	scheme.AddKnownTypes(version, &Mooring{}, &MooringList{})
	metav1.AddToGroupVersion(scheme, version)
}

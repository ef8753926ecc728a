package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Lighthouse has lamps that burn. If it has a position, it's in the Light List, too.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Flash,type=string,JSONPath=`.spec.flash`
// +kubebuilder:printcolumn:name=Lamps,type=integer,JSONPath=`.spec.lamps`
// +kubebuilder:printcolumn:name=Burning,type=integer,JSONPath=`.status.burning`
// +kubebuilder:printcolumn:name=Number,type=string,JSONPath=`.status.number`
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="the name becomes a label of the pods"
type Lighthouse struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The desired state. A user writes it.
	Spec LighthouseSpec `json:"spec"`
	// The actual state. The operator writes it.
	// +optional
	Status LighthouseStatus `json:"status,omitzero"`
}

// LighthouseSpec is the desired state.
//
// +kubebuilder:validation:XValidation:rule="has(self.position) == has(self.secretRef)",message="a position and a secretRef go together: the Light List takes both"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.position) || has(self.position)",message="a Lighthouse that is in the Light List keeps a position; to take it out, delete it"
type LighthouseSpec struct {
	// How many lamps should burn.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9
	Lamps int32 `json:"lamps"`

	// What each lamp prints, such as: long short
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:XValidation:rule="self.matches('^(long|short)( (long|short)){0,11}$')",message="a flash is made of the words long and short, such as: long short"
	Flash string `json:"flash"`

	// Where it is, such as: 50.18N 4.27W
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,2}([.][0-9]{1,4})?[NS] [0-9]{1,3}([.][0-9]{1,4})?[EW]$')",message="a position is a latitude and a longitude in degrees, such as: 50.18N 4.27W"
	Position string `json:"position,omitempty"`

	// The Secret with the bearer token of the Light List office, in the same namespace.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`
}

// SecretReference names a Secret, whose key token has the bearer token.
type SecretReference struct {
	// The name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// LighthouseStatus is the actual state.
type LighthouseStatus struct {
	// The generation that the rest of the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// How many lamps burn.
	// +optional
	Burning int32 `json:"burning"`

	// Its number in the Light List. The office gives it some seconds after the registration.
	// +optional
	Number string `json:"number,omitempty"`

	// What the Light List says, when the operator last looked.
	// +optional
	Listed *Listing `json:"listed,omitempty"`

	// Ready, and its opposites: Reconciling while the operator works on it, and Stalled when only
	// a person can go on.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Listing is what the Light List says about a lighthouse.
type Listing struct {
	// Where it is.
	// +optional
	Position string `json:"position,omitempty"`
	// How it flashes.
	// +optional
	Character string `json:"character,omitempty"`
}

// The conditions, as kstatus reads them.
const (
	Ready       = "Ready"
	Reconciling = "Reconciling"
	Stalled     = "Stalled"
)

// LighthouseList is a list of Lighthouses.
//
// +kubebuilder:object:root=true
type LighthouseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Lighthouse `json:"items"`
}

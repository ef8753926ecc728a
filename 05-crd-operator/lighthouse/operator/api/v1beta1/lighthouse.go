package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Lighthouse has lamps that burn. Unless it's unlisted, it's in the Light List, too.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Flashes,type=string,JSONPath=`.spec.character.flashes`
// +kubebuilder:printcolumn:name=Count,type=integer,JSONPath=`.spec.character.count`
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

// Unlisted is the position of a Lighthouse that isn't in the Light List.
const Unlisted = "unlisted"

// LighthouseSpec is the desired state.
//
// +kubebuilder:validation:XValidation:rule="(self.position == 'unlisted') != has(self.secretRef)",message="a position and a secretRef go together: the Light List takes both, and an unlisted Lighthouse neither"
// +kubebuilder:validation:XValidation:rule="oldSelf.position == 'unlisted' || self.position != 'unlisted'",message="a Lighthouse that is in the Light List keeps a position; to take it out, delete it"
type LighthouseSpec struct {
	// How many lamps should burn.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9
	Lamps int32 `json:"lamps"`

	// What each lamp shows.
	Character Character `json:"character"`

	// Where it is, such as: 50.18N 4.27W; or: unlisted
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self == 'unlisted' || self.matches('^[0-9]{1,2}([.][0-9]{1,4})?[NS] [0-9]{1,3}([.][0-9]{1,4})?[EW]$')",message="a position is a latitude and a longitude in degrees, such as: 50.18N 4.27W, or it is: unlisted"
	Position string `json:"position"`

	// The Secret with the bearer token of the Light List office, in the same namespace.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`
}

// Character is a group of flashes, and how often it is shown. A v1alpha1 flash has room for twelve.
//
// +kubebuilder:validation:XValidation:rule="size(self.flashes) * self.count <= 12",message="a character has at most 12 flashes, in all of its groups together"
type Character struct {
	// How long each flash of a group is, such as: 500ms, or: 2.5s. It is written as Go prints it, since
	// that is what a conversion makes of it.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=12
	// +kubebuilder:validation:items:Type=string
	// +kubebuilder:validation:items:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.all(f, f.matches('^([1-9][0-9]{0,2}ms|([1-9]|[1-5][0-9])([.][0-9]{0,2}[1-9])?s)$'))",message="a flash is shorter than a minute, and written such as: 500ms, or: 2.5s"
	// +listType=atomic
	Flashes []metav1.Duration `json:"flashes"`

	// How many groups there are.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=12
	Count int32 `json:"count"`
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

// LighthouseList is a list of Lighthouses.
//
// +kubebuilder:object:root=true
type LighthouseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Lighthouse `json:"items"`
}

// Hub makes this the version that all others are converted to and from.
func (*Lighthouse) Hub() {}

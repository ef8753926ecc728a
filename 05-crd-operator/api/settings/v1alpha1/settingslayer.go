package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SettingsLayer is some of the settings of a namespace. All its layers are
// merged into one ConfigMap, for a workload to read. Where two layers have the
// same key, the one of higher priority wins; of two with the same priority the
// older one; of two that are equally old the one whose name comes first.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=layer;layers
// +kubebuilder:printcolumn:name=Priority,type=integer,JSONPath=`.spec.priority`
// +kubebuilder:printcolumn:name=In effect,type=string,JSONPath=`.status.conditions[?(@.type=="InEffect")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="InEffect")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type SettingsLayer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The settings, and how much they weigh.
	Spec SettingsLayerSpec `json:"spec"`
	// What became of them. The operator writes it.
	// +optional
	Status SettingsLayerStatus `json:"status,omitzero"`
}

// SettingsLayerSpec is the settings, and how much they weigh.
type SettingsLayerSpec struct {
	// Of two layers with the same key, the one of higher priority wins. It may be
	// negative.
	// +optional
	// +kubebuilder:default=0
	Priority int32 `json:"priority"`

	// The settings: they become keys and values of the ConfigMap. A key consists
	// of letters, digits, -, _ and . and has at most 253 of them. A layer has at
	// most 256 keys, and at most 1 MiB of values. kubectl apply keeps a copy of
	// the manifest in an annotation, which has at most 256 KiB: a larger one takes
	// kubectl apply --server-side. As JSON, where a quote takes two bytes, it has at
	// most about 1.5 MiB: a larger one has to become two.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.matches('^[-._a-zA-Z0-9]{1,253}$') && key != '.' && !key.startsWith('..'))",message="a key of data is not one that a ConfigMap can have: letters, digits, -, _ and ., at most 253 of them, and not .. in front"
	// +kubebuilder:validation:XValidation:rule="self.map(key, size(self[key])).sum() <= 1048576",message="the values of data are larger than 1 MiB, which is all that a ConfigMap can hold"
	Data map[string]string `json:"data,omitempty"`
}

// InEffect is the condition of a layer. It is True when at least one of its
// settings is in the ConfigMap, or it has none. Its reasons follow.
const InEffect = "InEffect"

// The reasons of InEffect when it is True.
const (
	// Merged: the ConfigMap has all settings of the layer.
	Merged = "Merged"
	// PartlyOverridden: it has some; the others are in status.overridden.
	PartlyOverridden = "PartlyOverridden"
)

// The reasons of InEffect when it is False.
const (
	// Overridden: other layers have all its keys, with other values.
	Overridden = "Overridden"
	// TooLarge: with the layers that weigh more, it does not fit into a ConfigMap.
	TooLarge = "TooLarge"
	// InvalidKey: a ConfigMap cannot have one of its keys.
	InvalidKey = "InvalidKey"
	// NameTaken: there is a ConfigMap of that name that was not made from layers.
	NameTaken = "NameTaken"
	// Blocked: the ConfigMap cannot be written as things are; the message says why.
	Blocked = "Blocked"
)

// SettingsLayerStatus says what became of the settings.
type SettingsLayerStatus struct {
	// InEffect: whether the settings of this layer are in the ConfigMap.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// The name of the ConfigMap.
	// +optional
	ConfigMap string `json:"configMap,omitempty"`

	// The generation of this layer that the ConfigMap was made with. If it is not
	// metadata.generation, the latest change is not there yet.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// The keys for which the ConfigMap has the value of another layer.
	// +optional
	// +listType=map
	// +listMapKey=key
	Overridden []Override `json:"overridden,omitempty"`
}

// Override is a key for which another layer has won.
type Override struct {
	// The key, which both layers have, with different values.
	Key string `json:"key"`
	// The name of the layer whose value is in the ConfigMap.
	By string `json:"by"`
}

// SettingsLayerList is a list of SettingsLayers.
//
// +kubebuilder:object:root=true
type SettingsLayerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []SettingsLayer `json:"items"`
}

// Package v1alpha1 is the API of SettingsLayer: settings for a workload, in
// layers. All layers of a namespace are merged into one ConfigMap, which the
// workload reads.
//
// +groupName=settings.example.com
// +kubebuilder:object:generate=true
package v1alpha1

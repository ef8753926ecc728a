// Package v1alpha1 is the API of PostgresCluster: a PostgreSQL with standbys, one of which
// takes over when the primary fails. The comments above the fields are what kubectl explain
// prints; controller-gen makes the schema from them and from the markers, the lines with a +.
//
// +groupName=postgres.programming-kubernetes.info
// +kubebuilder:object:generate=true
package v1alpha1

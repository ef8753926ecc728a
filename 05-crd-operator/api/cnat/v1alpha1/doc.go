// Package v1alpha1 is the API of At: run a command at a time. The group, the
// kind and the sample come from the book Programming Kubernetes, where the
// operator is called cnat, a cloud native at.
//
// The comments in at.go are more than comments. What stands above a field is
// what kubectl explain prints; the lines with a + are markers, which
// controller-gen turns into the schema, and code-generator into clients.
//
// +groupName=cnat.programming-kubernetes.info
// +kubebuilder:object:generate=true
package v1alpha1

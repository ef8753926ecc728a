package manager

// What the manager may do beside what its two operators may; that stands with
// them, in stage 5. generate.sh makes roles of all of it.
//
// Of the Leases in its own namespace, it may touch its own only. The name is not
// in the URL of a create, so the right to create goes without one.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create,namespace=cnat-system,roleName=cnat-manager-leader
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=cnat-manager,verbs=get;update,namespace=cnat-system,roleName=cnat-manager-leader
//
// To ask who wants the metrics, and whether that one may have them. With
// --metrics-token-file nobody is asked.
//
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create,roleName=cnat-metrics-auth
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create,roleName=cnat-metrics-auth

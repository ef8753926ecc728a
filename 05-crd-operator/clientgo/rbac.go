package clientgo

// What the operator must be allowed to do, and no more. generate.sh makes
// config/rbac/clientgo.yaml of it.
//
// +kubebuilder:rbac:groups=cnat.programming-kubernetes.info,resources=ats,verbs=get;list;watch
// +kubebuilder:rbac:groups=cnat.programming-kubernetes.info,resources=ats/status,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=create;get;list;patch;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

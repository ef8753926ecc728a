package controllerruntime

// What the operator must be allowed to do, and no more. generate.sh makes
// config/rbac/controllerruntime.yaml of it.
//
// +kubebuilder:rbac:groups=cnat.programming-kubernetes.info,resources=ats,verbs=list;watch
// +kubebuilder:rbac:groups=cnat.programming-kubernetes.info,resources=ats/status,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=create;get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

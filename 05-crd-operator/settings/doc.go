// Package settings is an operator that turns SettingsLayers into a ConfigMap,
// and keeps it as it should be, whoever changes it. All layers of a namespace
// are merged into one ConfigMap of that namespace.
//
// What goes in is one kind, and what comes out another. The operator watches
// both. An operator that watched only what goes in would look as good: it would
// make the ConfigMap, and follow each change of a layer. But it would not hear
// that somebody edits or deletes what it made. That is a mistake easy to make
// and hard to see, so there is a build that makes it, and a test that catches it.
//
//	layers ──watch──┐                                ┌──apply──▶ ConfigMap
//	                ├──▶ queue of namespaces ──▶ merge ──status─▶ layers
//	ConfigMap ──────┘
//	          watch
//
// One pass over a namespace takes these steps, and each has its file:
//
//	observe.go   what is there, from the cache
//	merge.go     which layer wins which key: pure
//	desired.go   the ConfigMap that is wanted, and how what is there differs: pure
//	decide.go    what to do about it: pure
//	act.go       do it
//	status.go    what the layers are to know: pure
//	tell.go      tell them
//
// Around them are settings.go, the program; manager.go, which puts it onto
// controller-runtime; and watch_output.go, the watch that matters.
package settings

// What the operator may do, and no more. The names of its ConfigMaps are all the
// same, so it needs no right to any other: with another --config-map, name that
// here. The right to create goes by name, too, because an apply, unlike a
// create, has the name in its URL.
//
// +kubebuilder:rbac:groups=settings.example.com,resources=settingslayers,verbs=list;watch
// +kubebuilder:rbac:groups=settings.example.com,resources=settingslayers/status,verbs=update
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=settings,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

package manager

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"example.com/hacking-a-controller/05-crd-operator/controllerruntime"
	"example.com/hacking-a-controller/05-crd-operator/settings"
)

// newScheme knows the types of both operators.
func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(controllerruntime.AddToScheme, settings.AddToScheme)
	return s, builder.AddToScheme(s)
}

// cacheOptions limit the caches to what the two operators read, in these namespaces.
// None is all.
func cacheOptions(namespaces []string) cache.Options {
	options := cache.Options{
		ByObject:                    controllerruntime.Cached(),
		ReaderFailOnMissingInformer: true, // to read a kind that is not cached is a bug
	}
	maps.Copy(options.ByObject, settings.Cached())
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

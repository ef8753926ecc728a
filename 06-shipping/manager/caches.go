package manager

import (
	"maps"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	layers "example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
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
	maps.Copy(options.ByObject, settings.Cached(configMap))
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// newMapper knows the URLs of the kinds, as that of stage 5 does. By default, a manager
// discovers them from the server.
func newMapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		cnat.SchemeGroupVersion.WithKind("At"),
		layers.SchemeGroupVersion.WithKind("SettingsLayer"),
		corev1.SchemeGroupVersion.WithKind("Pod"),
		corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	} {
		m.Add(kind, meta.RESTScopeNamespace)
		// A cache of some namespaces maps the kind of a list, too.
		m.Add(kind.GroupVersion().WithKind(kind.Kind+"List"), meta.RESTScopeNamespace)
	}
	return m, nil
}

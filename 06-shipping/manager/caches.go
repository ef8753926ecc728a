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

// scheme knows the types of both operators.
func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(controllerruntime.AddToScheme, settings.AddToScheme)
	return s, builder.AddToScheme(s)
}

// caches hold what the two operators read, and nothing else of the cluster.
func caches(namespaces []string) cache.Options {
	options := cache.Options{
		ByObject:                    controllerruntime.Cached(),
		ReaderFailOnMissingInformer: true, // to read what is not in this list is a mistake
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

// mapper says at which URLs the kinds are, without asking the server: what it
// needs to know was known when it was written.
func mapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		cnat.SchemeGroupVersion.WithKind("At"),
		layers.SchemeGroupVersion.WithKind("SettingsLayer"),
		corev1.SchemeGroupVersion.WithKind("Pod"),
		corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	} {
		m.Add(kind, meta.RESTScopeNamespace)
		// A cache of some namespaces looks for the kind of a list, too.
		m.Add(kind.GroupVersion().WithKind(kind.Kind+"List"), meta.RESTScopeNamespace)
	}
	return m, nil
}

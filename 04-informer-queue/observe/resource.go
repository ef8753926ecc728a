package observe

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"example.com/hacking-a-controller/04-informer-queue/cli"
)

// discoveryTimeout is how long it may take to find the type.
const discoveryTimeout = 30 * time.Second

// findResource finds the type that the user names: pods, po, deployments.apps
// or the name of a custom resource. kubectl's builder does it, as in stage 2.
func findResource(ctx context.Context, config *rest.Config, name string) (*meta.RESTMapping, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	types, err := newAPITypes(ctx, config)
	if err != nil {
		return nil, err
	}
	// The builder takes every failure of discovery for an unknown type. So see first
	// whether the server answers.
	if _, err := types.discovery.ServerGroups(); err != nil {
		return nil, err
	}
	mapping, err := resource.NewBuilder(types).
		Unstructured().
		ResourceTypeOrNameArgs(true, name).
		SingleResourceType().
		Do().ResourceMapping()
	if err != nil && (meta.IsNoMatchError(err) || strings.Contains(err.Error(), "doesn't have a resource type")) {
		_, _, discovered := types.discovery.ServerGroupsAndResources()
		return nil, cli.Unavailable(fmt.Errorf("%w; kubectl api-resources lists those that it has", err), discovered)
	}
	return mapping, err
}

// apiTypes discovers the types of the server, and caches them. It is what the builder
// needs.
type apiTypes struct {
	config    *rest.Config
	discovery discovery.CachedDiscoveryInterface
}

func newAPITypes(ctx context.Context, config *rest.Config) (*apiTypes, error) {
	config = rest.CopyConfig(config)
	// The builder takes no context, so the transport adds it to what the builder requests:
	// https://github.com/kubernetes/cli-runtime/issues/18
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			return next.RoundTrip(request.WithContext(ctx))
		})
	})
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	return &apiTypes{config, memory.NewMemCacheClient(client)}, nil
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip makes the function an http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// ToRESTConfig is for the builder.
func (t *apiTypes) ToRESTConfig() (*rest.Config, error) { return t.config, nil }

// ToDiscoveryClient is for the builder.
func (t *apiTypes) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return t.discovery, nil
}

// ToRESTMapper is for the builder. The expander knows that po are pods.
func (t *apiTypes) ToRESTMapper() (meta.RESTMapper, error) {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(t.discovery)
	return restmapper.NewShortcutExpander(mapper, t.discovery, nil), nil
}

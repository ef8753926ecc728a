package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/03-watch/cli"
)

// podSource lists and watches pods through the clientset. It decodes them into
// *corev1.Pod.
func podSource(client kubernetes.Interface, namespace, selector string) cache.ListerWatcherWithContext {
	pods := client.CoreV1().Pods(namespace)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = selector
			return pods.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return pods.Watch(ctx, options)
		},
	}
}

// anySource lists and watches objects of any type through the dynamic client.
// There is no Go struct for a type that is only known at run time, so it decodes
// them into *unstructured.Unstructured, which is a map.
func anySource(client dynamic.Interface, mapping *meta.RESTMapping, namespace, selector string) cache.ListerWatcherWithContext {
	var objects dynamic.ResourceInterface = client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		objects = client.Resource(mapping.Resource).Namespace(namespace)
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = selector
			return objects.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return objects.Watch(ctx, options)
		},
	}
}

// mappingFor finds the resource that the user means by pod, pods, po,
// deployments.apps or deployments.v1.apps. The mapper knows from discovery which
// resources the server has.
func mappingFor(ctx context.Context, mapper *discovered, typ string) (*meta.RESTMapping, error) {
	full, group := schema.ParseResourceArg(typ)
	if full != nil {
		if kind, err := mapper.KindForWithContext(ctx, *full); err == nil {
			return mapper.RESTMappingWithContext(ctx, kind.GroupKind(), kind.Version)
		}
	}
	kind, err := mapper.KindForWithContext(ctx, group.WithVersion(""))
	if meta.IsNoMatchError(err) {
		err = fmt.Errorf("the server does not have a resource type %q; kubectl api-resources lists those that it has", typ)
		return nil, cli.Unavailable(err, mapper.err)
	}
	if err != nil {
		return nil, err
	}
	return mapper.RESTMappingWithContext(ctx, kind.GroupKind(), kind.Version)
}

// newMapper returns a mapper from what users call a type to the resource. It
// requests from the server which resources there are. The context ends its requests.
func newMapper(ctx context.Context, config *rest.Config) (*discovered, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	found := &discovered{DiscoveryInterfaceWithContext: client}
	resources, err := restmapper.GetAPIGroupResourcesWithContext(ctx, found)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDiscoveryRESTMapperWithContext(resources)
	found.RESTMapperWithContext = restmapper.NewShortcutExpanderWithContext(mapper, client, nil) // knows that po are pods
	return found, nil
}

// discovered is what the server has. An API that does not answer is missing in it.
type discovered struct {
	discovery.DiscoveryInterfaceWithContext
	meta.RESTMapperWithContext
	err error // which do not
}

// ServerGroupsAndResourcesWithContext keeps the error that restmapper drops.
func (d *discovered) ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	groups, resources, err := d.DiscoveryInterfaceWithContext.ServerGroupsAndResourcesWithContext(ctx)
	d.err = err
	return groups, resources, err
}

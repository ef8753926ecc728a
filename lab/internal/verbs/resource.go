package verbs

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/lab/internal/faults"
)

// resourceNamed returns a target as faults know it: po and pod are pods. A name that the API
// server does not know is an error: a fault of it would do nothing, and nobody would see why.
func (p Place) resourceNamed(target string) (string, error) {
	if target == "" || target == faults.Watches || target[0] == '/' {
		return target, nil
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: p.Kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: p.Context}).ClientConfig()
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig %s: %w", p.Kubeconfig, err)
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", err
	}
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return "", fmt.Errorf("finding the resource of %s: %w", target, err)
	}
	mapper := restmapper.NewShortcutExpander(restmapper.NewDiscoveryRESTMapper(groups), client, nil)
	name, below, _ := strings.Cut(target, "/")
	resource, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: name})
	if meta.IsNoMatchError(err) {
		return "", fmt.Errorf("there is no resource %q; write %s, a resource such as pods, or a path that begins with a slash", name, faults.Watches)
	}
	return strings.TrimSuffix(resource.Resource+"/"+below, "/"), err
}

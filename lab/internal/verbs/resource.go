package verbs

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/lab/internal/faults"
)

// resourceNamed returns a target as faults know it: po and pod are pods. A name that the API
// server does not know is an error: a fault of it would do nothing, and nobody would see why.
func resourceNamed(kubeconfig, target string) (string, error) {
	if target == "" || target == faults.Watches || target[0] == '/' {
		return target, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return "", err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", err
	}
	lists, err := client.ServerPreferredResources() // some, perhaps, and an error for the others
	name, below, _ := strings.Cut(target, "/")
	for _, list := range lists {
		for _, resource := range list.APIResources {
			if name == resource.Name || name == resource.SingularName || slices.Contains(resource.ShortNames, name) {
				return strings.TrimSuffix(resource.Name+"/"+below, "/"), nil
			}
		}
	}
	if err != nil {
		return "", fmt.Errorf("finding the resource %s: %w", name, err)
	}
	return "", fmt.Errorf("there is no resource %q; write %s, a resource such as pods, or a path that begins with a slash", name, faults.Watches)
}

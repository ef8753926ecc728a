package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// connect finds the cluster and the namespace that the flags mean. Stage 1 did
// this step by step; here clientcmd does it, in the order of kubectl. It makes
// no request. The configuration has no Timeout: that would end a watch, too.
func (o *options) connect() (config *rest.Config, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{
		CurrentContext: o.context,
		Context:        clientcmdapi.Context{Namespace: o.namespace},
	})
	config, err = loader.ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, "", errors.New("no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG")
	case err != nil:
		return nil, "", fmt.Errorf("%w; correct --kubeconfig, --context or KUBECONFIG", err)
	}
	// client-go holds a client to 5 requests a second unless told otherwise.
	// The backoff here is restraint enough.
	config.QPS = -1
	config.WarningHandler = rest.NewWarningWriter(o.stderr, rest.WarningWriterOptions{Deduplicate: true})

	if !o.allNamespaces {
		if namespace, _, err = loader.Namespace(); err != nil {
			return nil, "", fmt.Errorf("%w; name the namespace with -n", err)
		}
	}
	return config, namespace, nil
}

// newMapper returns a mapper from what users call a type to the resource. It
// asks the server which resources there are. The context ends its requests.
func newMapper(ctx context.Context, config *rest.Config) (meta.RESTMapper, error) {
	config = rest.CopyConfig(config)
	// The discovery client takes no context, so the transport brings it along.
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			return next.RoundTrip(request.WithContext(ctx))
		})
	})
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	resources, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(resources)
	return restmapper.NewShortcutExpander(mapper, client, nil), nil // knows that po are pods
}

package main

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/02-resource-builder/cli"
)

// connect makes sure that there is a server, and returns its address. The Builder
// would find out as well, but it needs the groups of the API in several places, and
// would wait for a dead server in each.
//
// Mostly this makes no request at all: what discovery found is cached on disk for
// six hours, where kubectl caches it, too.
func connect(flags *genericclioptions.ConfigFlags) (server string, err error) {
	// For the sake of history, ConfigFlags defaults to http://localhost:8080.
	clientcmd.ClusterDefaults.Server = ""
	config, err := flags.ToRESTConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return "", errors.New("no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG")
	case err != nil:
		return "", fmt.Errorf("%w; correct --kubeconfig, --context or KUBECONFIG", err)
	}
	api, err := flags.ToDiscoveryClient()
	if err != nil {
		return "", fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	if err := cli.Login(config); err != nil {
		return "", err
	}
	_, err = api.ServerGroups()
	if apierrors.IsNotFound(err) {
		return "", fmt.Errorf("%s does not answer as an API server does; correct its address in the kubeconfig (%w)", config.Host, err)
	}
	return config.Host, cli.Explain(err, config.Host)
}

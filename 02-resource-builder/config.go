package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster is the one that the flags and the kubeconfig choose.
type cluster struct {
	server string // its address
	api    discovery.ServerResourcesInterface
}

// connect makes sure that there is a server. The Builder would find out as
// well, but it asks for the groups of the API in several places, and would wait
// for a dead server in each.
//
// Mostly this makes no request at all: what discovery has learnt is kept on
// disk for six hours, where kubectl keeps it, too.
func connect(flags *genericclioptions.ConfigFlags) (cluster, error) {
	kubeconfig := flags.ToRawKubeConfigLoader()
	config, err := flags.ToRESTConfig()
	if err != nil {
		return cluster{}, explainConfig(err, kubeconfig)
	}
	if unconfigured(kubeconfig) {
		return cluster{}, errors.New("no kubeconfig was found; name one with --kubeconfig or KUBECONFIG")
	}

	api, err := flags.ToDiscoveryClient()
	if err != nil {
		return cluster{}, fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	c := cluster{config.Host, api}
	_, err = api.ServerGroups()
	switch {
	case apierrors.IsNotFound(err):
		return c, fmt.Errorf("%s does not answer as an API server does; correct its address in the kubeconfig (%w)", config.Host, err)
	case err != nil:
		return c, c.explain(err)
	}
	return c, nil
}

// unconfigured is the case in which ConfigFlags, for the sake of history, goes
// to http://localhost:8080.
func unconfigured(kubeconfig clientcmd.ClientConfig) bool {
	raw, err := kubeconfig.RawConfig()
	_, inCluster := rest.InClusterConfig()
	return err == nil && len(raw.Clusters) == 0 && errors.Is(inCluster, rest.ErrNotInCluster)
}

// explainConfig adds the names of the contexts that there are.
func explainConfig(err error, kubeconfig clientcmd.ClientConfig) error {
	raw, unreadable := kubeconfig.RawConfig()
	if unreadable != nil || len(raw.Contexts) == 0 {
		return fmt.Errorf("reading the kubeconfig: %w; repair it, or name another one with --kubeconfig", err)
	}
	names := slices.Sorted(maps.Keys(raw.Contexts))
	return fmt.Errorf("%w; choose a context with --context: %s", err, strings.Join(names, ", "))
}

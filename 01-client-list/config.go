package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/homedir"
)

// inClusterConfig is a variable so that a test can play the pod: client-go
// reads the service account from fixed paths.
var inClusterConfig = rest.InClusterConfig

// loadConfig answers two questions: where is the API server, and who are we to
// it? The first of these places that has an answer decides:
//
//  1. the file that --kubeconfig names
//  2. the files that KUBECONFIG lists, merged
//  3. the service account of the pod that the program runs in
//  4. ~/.kube/config
//
// clientcmd can do this on its own, but it asks the pod last. Here the order
// is spelled out, and a place that was named but is broken is an error: to go
// on to the next one could mean to talk to the wrong cluster.
func loadConfig(kubeconfig, context string) (*rest.Config, error) {
	if kubeconfig != "" {
		return fromFiles([]string{kubeconfig}, context)
	}

	if list := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); list != "" {
		return fromFiles(filepath.SplitList(list), context)
	}

	config, err := inClusterConfig()
	if err == nil && context == "" { // a pod has no contexts
		return config, nil
	}

	home := filepath.Join(homedir.HomeDir(), clientcmd.RecommendedHomeDir, clientcmd.RecommendedFileName)
	if exists(home) {
		return fromFiles([]string{home}, context)
	}

	return nil, fmt.Errorf("no cluster configuration found: --kubeconfig is not given, KUBECONFIG is not set, "+
		"%s, and %s does not exist; name a kubeconfig with --kubeconfig", whyNotPod(err), home)
}

// whyNotPod is the part of the sentence about the service account.
func whyNotPod(err error) string {
	switch {
	case err == nil:
		return "a pod has no context to choose"
	case errors.Is(err, rest.ErrNotInCluster):
		return "this is not a pod"
	default:
		return fmt.Sprintf("this pod has no service account (%v)", err)
	}
}

// fromFiles merges the files as kubectl does (files that do not exist are left
// out, and the first to set a value wins) and returns what the context says.
// An empty context means the current one.
func fromFiles(files []string, context string) (*rest.Config, error) {
	where := strings.Join(files, string(filepath.ListSeparator))
	if !slices.ContainsFunc(files, exists) {
		return nil, fmt.Errorf("kubeconfig %s does not exist; correct the path in --kubeconfig or KUBECONFIG", where)
	}

	rules := &clientcmd.ClientConfigLoadingRules{Precedence: files}
	kubeconfig, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("%w; repair the file, or name another one with --kubeconfig", err)
	}

	if context == "" {
		context = kubeconfig.CurrentContext
	}
	if _, ok := kubeconfig.Contexts[context]; !ok {
		return nil, unknownContext(context, where, slices.Sorted(maps.Keys(kubeconfig.Contexts)))
	}

	config, err := clientcmd.NewNonInteractiveClientConfig(*kubeconfig, context, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("context %q in %s: %w; repair the kubeconfig", context, where, err)
	}
	return config, nil
}

func unknownContext(context, where string, known []string) error {
	switch {
	case len(known) == 0:
		return fmt.Errorf("kubeconfig %s has no contexts; name another file with --kubeconfig", where)
	case context == "":
		return fmt.Errorf("kubeconfig %s has no current context; choose one with --context: %s", where, strings.Join(known, ", "))
	default:
		return fmt.Errorf("context %q does not exist in %s; choose one with --context: %s", context, where, strings.Join(known, ", "))
	}
}

// exists tells only a missing file from the rest. Whoever opens a file that is
// there but cannot be read gets the better error.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
